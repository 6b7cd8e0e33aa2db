// Any bytes as the answers of an API server: an inventory whose parts agree, or a named error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "discover/readers.h"

namespace {

// The parts of one input, separated by a byte that JSON never holds: nodes, pods, slices, claims.
constexpr const char* kQuestions[] = {"GET /api/v1/nodes", "GET /api/v1/pods", "GET resourceslices",
                                      "GET resourceclaims"};

void check(const exa::Result<exa::Inventory>& inventory) {
  if (!inventory) {
    EXA_ASSERT(inventory.error().code == exa::Code::unreadable_output);
    EXA_ASSERT(!inventory.error().message.empty());
    return;
  }
  for (const exa::Node& node : inventory->nodes) {
    EXA_ASSERT(!node.name.empty());
    for (const exa::CardSet& cards : node.cards)
      for (const exa::Offer& offer : cards.offers) {
        EXA_ASSERT(offer.units >= 0);
        EXA_ASSERT(!offer.free || (*offer.free >= 0 && *offer.free <= offer.units));
        EXA_ASSERT(offer.used || !offer.free);
      }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  (void)exa::recognise_kubernetes(rest);
  exa::Capture capture;
  capture.kind = exa::ClusterKind::kubernetes;
  for (const char* question : kQuestions) {
    const size_t end = std::min(rest.find('\xff'), rest.size());
    capture.outputs.push_back({question, {}, 0, std::string(rest.substr(0, end)), {}});
    rest.remove_prefix(end);
    if (rest.empty()) break;
    rest.remove_prefix(1);
  }
  check(exa::read_kubernetes(capture));
  return 0;
}
