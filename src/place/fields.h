// Reading the fields of an untrusted JSON object: each accessor leaves the value as it is and notes
// a problem (pointer, sentence, suggestion) when a field is not what it should be. A field that is
// absent or null changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace exa {

class FieldReader {
 public:
  FieldReader(const json::object& input, std::vector<Problem>& problems)
      : input_(input), problems_(problems) {}

  bool has(std::string_view key) const;      // present, perhaps null
  bool cleared(std::string_view key) const;  // present and null

  void text(std::string_view key, std::string& value) const;  // valid UTF-8, nothing hidden
  void name(std::string_view key, std::string& value, std::string_view what) const;  // slug
  void tags(std::string_view key, std::vector<std::string>& value) const;  // lower, sorted, unique
  void flag(std::string_view key, bool& value) const;
  void count(std::string_view key, int64_t& value) const;  // whole number >= 0
  // A decimal number or text, through a parser that says what is wrong with it.
  void amount(std::string_view key, int64_t& value,
              const std::function<Result<int64_t>(std::string_view)>& parse) const;
  // A text with a unit ("80GB"); a bare number is refused with a sentence that says so.
  void bytes_with_unit(std::string_view key, int64_t& value) const;

  // An exact name of a table, with a did-you-mean. `find` gives nullopt for an unknown one.
  template <typename T>
  void choice(std::string_view key, T& value, std::string_view what,
              const std::vector<std::string>& known,
              const std::function<std::optional<T>(std::string_view)>& find) const {
    std::string given;
    if (!get_text(key, given)) return;
    if (const auto found = find(given))
      value = *found;
    else
      say_unknown(key, what, given, known);
  }

  void say(std::string_view key, std::string message, std::string suggestion = {}) const;
  void refuse_unknown_keys(std::span<const std::string_view> known, std::string_view what) const;

 private:
  bool get_text(std::string_view key, std::string& value) const;
  bool get_decimal(std::string_view key, std::string& value) const;
  void say_unknown(std::string_view key, std::string_view what, const std::string& given,
                   const std::vector<std::string>& known) const;

  const json::object& input_;
  std::vector<Problem>& problems_;
};

// [a-z0-9] at both ends, [a-z0-9._+-] inside, at most 64: "fp8", "nvlink", "cuda-12.4".
bool is_capability(std::string_view text);

}  // namespace exa
