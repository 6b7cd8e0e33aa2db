// How a profile is referred to, anywhere: `name`, `name@3`, `name@candidate`; one that another
// project shares: `project/name`, `project/name@3`, …. Semantics §3.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace exa {

// At most one of version and label is given; neither means the label `active`.
struct ProfileRef {
  std::string name;
  std::optional<int64_t> version;      // from 1
  std::optional<std::string> label;    // never all digits: that would read as a version
  std::optional<std::string> project;  // whose it is; none: of the project that is asked

  bool operator==(const ProfileRef&) const = default;
};

// Fails with invalid_input and says which part is wrong.
Result<ProfileRef> parse_reference(std::string_view text);
std::string to_text(const ProfileRef& reference);

}  // namespace exa
