// What nearly every file needs, compiled once.
#pragma once
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <tl/expected.hpp>
