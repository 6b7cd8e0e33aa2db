// Any bytes as a compute profile, Rafay's or exa's own: every problem with its place, or a profile
// that comes out as it went in.
#include "base/yaml.h"
#include "catalogue/rafay.h"
#include "catalogue/sku_diff.h"

namespace exa {
namespace {

void check_own(const json::value& value) {
  const auto sku = compute_sku_from_json(value);
  if (!sku) {
    EXA_ASSERT(!sku.error().problems.empty());
    return;
  }
  EXA_ASSERT(compute_sku_from_json(to_json(*sku)) == *sku);
  EXA_ASSERT(diff(*sku, *sku).empty());
  EXA_ASSERT(!to_text(input_schema(sku->inputs)).empty());
  (void)resolve_inputs(sku->inputs, value.get_object());
}

void check_rafay(std::string_view text) {
  const auto read = read_rafay_sku(text, "fuzz");
  if (!read) return;
  check_own(to_json(read->sku));
  EXA_ASSERT(to_text(to_rafay(read->sku, &read->document).document) == to_text(read->document));
  (void)to_rafay(read->sku);
}

}  // namespace
}  // namespace exa

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  exa::check_rafay(text);
  if (const auto value = exa::parse_json(text, "fuzz")) exa::check_own(*value);
  return 0;
}
