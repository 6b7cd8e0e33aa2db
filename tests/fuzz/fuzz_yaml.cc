// Any bytes: refused with a named problem, or read into values that survive both writers.
#include "base/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto documents = exa::parse_yaml(text, "fuzz");
  if (!documents) {
    EXA_ASSERT(!documents.error().message.empty());
    return 0;
  }
  for (const exa::YamlDocument& document : *documents) {
    const std::string json = exa::to_text(document.value);
    const auto again = exa::parse_yaml(exa::to_yaml(document.value), "again");
    EXA_ASSERT(again && again->size() == 1);
    EXA_ASSERT(exa::to_text(again->front().value) == json);
    EXA_ASSERT(exa::parse_json(json, "json", exa::tool_output_limits()).has_value());
  }
  return 0;
}
