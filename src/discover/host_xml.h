// The XML that nvidia-smi prints: elements, text, attributes, the five entities. A scanner of its
// own rather than Boost.PropertyTree: that one recurses with the depth of its input, has no limits,
// and throws; this one keeps an explicit stack and says the line that is wrong.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace exa {

struct XmlElement {
  std::string name;
  std::string text;  // of this element itself, trimmed
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;

  const XmlElement* child(std::string_view wanted) const;  // first of that name, or nullptr
  std::string_view text_of(std::string_view path) const;   // "mig_mode/current_mig"; "" when absent
  std::string_view attribute(std::string_view wanted) const;
};

// At most 64 MiB, 32 deep, 500,000 elements. A document type with declarations of its own is
// refused. Text after the root element is ignored: nvidia-smi appends warnings there (exit code
// 14).
Result<XmlElement> parse_xml(std::string_view text, std::string_view what);

}  // namespace exa
