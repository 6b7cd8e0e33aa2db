// One value held against one setting; what the other files of inputs are made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catalogue/input_setting.h"

namespace exa {

// A decimal, with or without '-', as millionths. Fails with a message that begins with a verb.
Result<int64_t> input_number(std::string_view text);
std::optional<int64_t> micros_of(const json::value& number);  // nullopt: no number, or none of ours

bool is_input_name(std::string_view text);
size_t code_points(std::string_view text);

// Of the setting's type, within its bounds, pattern and choices; not of its list. The message
// begins with a verb, holds no secret, and is empty where the value will do.
std::string wrong_for_type(const InputSetting& setting, const json::value& value);
// Also of its list: what may be given, or be the default.
std::string wrong_for_setting(const InputSetting& setting, const json::value& value);

// What a value that may be given stands for: of a label its value, else itself.
const json::value& meant(const InputSetting& setting, const json::value& given);

// 1, "a": a value as people read it in a sentence.
std::string in_words(const json::value& value);

}  // namespace exa
