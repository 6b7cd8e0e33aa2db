// YAML 1.2 core schema into the same JSON value, through libyaml's events. Anchors, aliases, custom
// tags, duplicate keys, NaN and infinities are refused; problems carry file:line:column.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace exa {

struct YamlPlace {
  int line = 1;
  int column = 1;
};

struct YamlDocument {
  json::value value;
  int line = 1;  // where the document starts
  // By JSON pointer, "" for the document itself; a member stands where its key does. Empty unless
  // YamlLimits::with_places.
  std::map<std::string, YamlPlace, std::less<>> places;
};

// Where that pointer stands ("file:line:column"), or the nearest thing around it that has a place.
std::string place_of(const YamlDocument& document, std::string_view pointer, std::string_view file);

struct YamlLimits {
  ReadLimits each;
  size_t max_documents = 100;
  size_t max_scalar_bytes = size_t{64} << 10;
  bool with_places = false;  // note where every value stands, for problems found later
};

Result<std::vector<YamlDocument>> parse_yaml(std::string_view text, std::string_view file,
                                             YamlLimits limits = {});

// Block style, strings quoted whenever the core schema would read them as something else.
std::string to_yaml(const json::value& value);

}  // namespace exa
