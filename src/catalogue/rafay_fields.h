// Where the fields of a compute profile stand in Rafay's document; what reading and writing share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "catalogue/input_setting.h"

namespace exa::rafay {

// "spec/templateRef/name": the first is written, all are read.
struct TextField {
  std::string_view field;  // of the SKU's JSON, as a path
  std::span<const std::string_view> places;
};
std::span<const TextField> text_fields();

// A value at "a/b/c" of nested objects; nullptr: none.
const json::value* at_path(const json::object& root, std::string_view path);

// "GPU Count" -> gpu_count; empty: nothing is left of it.
std::string input_name_of(std::string_view variable);

// allowed, notallowed, restricted, restricted_key_values; nullopt: another.
std::optional<InputOverride> find_override(std::string_view word);
std::string_view word_of(InputOverride override_);

}  // namespace exa::rafay
