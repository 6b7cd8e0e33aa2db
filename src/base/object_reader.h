// Reading a JSON object that others wrote: every problem at once, each with its JSON pointer. A
// field that is absent or null leaves the value as it is.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/time.h"

namespace exa {

class ObjectReader {
 public:
  // Says so where the value is no object; every field is then absent.
  ObjectReader(const json::value& value, std::string_view where, std::vector<Problem>& problems);

  const json::value* given(std::string_view key) const;  // nullptr: absent or null
  std::string at(std::string_view key) const;            // its pointer
  void say(std::string_view key, std::string message, std::string suggestion = {}) const;

  // Each says whether the field is there and right.
  bool text(std::string_view key, size_t longest, std::string& value) const;
  bool flag(std::string_view key, bool& value) const;
  bool count(std::string_view key, int64_t& value) const;
  bool count(std::string_view key, std::optional<int64_t>& value) const;
  bool time(std::string_view key, Time& value) const;
  // nullptr: absent, or no list of at most `most`.
  const json::array* list(std::string_view key, size_t most) const;

  void require(std::initializer_list<std::string_view> keys) const;
  void refuse_others(std::initializer_list<std::string_view> known, std::string_view what) const;

 private:
  const json::object* object_ = nullptr;
  std::string where_;
  std::vector<Problem>& problems_;
};

// What is wrong with a text that is shown to people, or empty.
std::string wrong_text(const json::value& value, size_t longest);

}  // namespace exa
