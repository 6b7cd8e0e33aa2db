// Any bytes: refused with a named problem, or read into a value whose every text reads back as the
// same value.
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto value = exa::parse_json(input, "fuzz");
  if (!value) {
    EXA_ASSERT(value.error().code == exa::Code::invalid_input);
    EXA_ASSERT(!value.error().message.empty());
    return 0;
  }
  const std::string text = exa::to_text(*value);
  const std::string canonical = exa::to_canonical_text(*value);
  for (const std::string& written : {text, canonical, exa::to_pretty_text(*value)}) {
    const auto again = exa::parse_json(written, "again");
    EXA_ASSERT(again.has_value());
    EXA_ASSERT(exa::to_canonical_text(*again) == canonical);
  }
  EXA_ASSERT(exa::to_text(*exa::parse_json(text, "again")) == text);
  return 0;
}
