// Any bytes as any amount, time or set of names: refused, or a number that is not negative and that
// its own text gives back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/quantity.h"
#include "base/text.h"
#include "base/time.h"
#include "discover/hostlist.h"
#include "discover/idset.h"

namespace exa {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

void amounts(std::string_view text) {
  if (const auto milli = parse_milli(text, "cpu")) {
    EXA_ASSERT(*milli >= 0);
    EXA_ASSERT(parse_milli(format_milli(*milli), "cpu") == *milli);
  }
  if (const auto bytes = parse_gib(text)) {
    EXA_ASSERT(*bytes >= 0);
    EXA_ASSERT(parse_gib(format_gib(*bytes)) == *bytes);
  }
  if (const auto bytes = parse_bytes_with_unit(text)) {
    EXA_ASSERT(*bytes >= 0 && !format_bytes(*bytes).empty());
  }
  if (const auto count = parse_count(text, "nodes")) {
    EXA_ASSERT(parse_count(std::to_string(*count), "nodes") == *count);
  }
  if (const auto amount = parse_kubernetes_quantity(text)) {
    EXA_ASSERT(amount->whole >= 0 && amount->milli >= 0);
    // both stand for one amount, each rounded up or saturated
    EXA_ASSERT(amount->milli == kMost ||
               amount->milli / 1000 + (amount->milli % 1000 != 0) == amount->whole);
    EXA_ASSERT(amount->milli != kMost || amount->whole >= kMost / 1000);
  }
}

void times(std::string_view text) {
  if (const auto time = parse_rfc3339(text)) {
    EXA_ASSERT(parse_rfc3339(format_rfc3339(*time)) == *time);
  }
  if (const auto duration = parse_duration(text)) {
    EXA_ASSERT(duration->micros >= 0 && !format_age(*duration).empty());
    EXA_ASSERT(parse_duration(format_duration(*duration)) == *duration);
  }
}

void hosts(std::string_view text) {
  constexpr size_t kFew = 1'000;
  auto names = expand_hostlist(text, kFew);
  if (!names) {
    EXA_ASSERT(names.error().code == Code::invalid_input);
    return;
  }
  EXA_ASSERT(!names->empty() && names->size() <= kFew);
  auto again = expand_hostlist(compress_hostlist(*names), kFew);
  EXA_ASSERT(again.has_value());
  std::ranges::sort(*names);
  names->erase(std::unique(names->begin(), names->end()), names->end());
  std::ranges::sort(*again);
  EXA_ASSERT(*again == *names);
}

void ids(std::string_view text) {
  const auto set = parse_idset(text, "ranks");
  if (!set) return;
  EXA_ASSERT(unite(*set, *set) == *set);
  EXA_ASSERT(subtract(*set, *set).ranges.empty());
  for (const IdRange& range : set->ranges) {
    EXA_ASSERT(set->contains(range.first) && set->contains(range.last));
    EXA_ASSERT(!set->contains(range.last + 1) && !set->contains(range.first - 1));
    const IdSet one{{range}};
    EXA_ASSERT(unite(subtract(*set, one), one) == *set);
    EXA_ASSERT(subtract(*set, one).count() + one.count() == set->count());
  }
}

}  // namespace
}  // namespace exa

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min<size_t>(size, 4096));
  exa::amounts(text);
  exa::times(text);
  exa::hosts(text);
  exa::ids(text);
  return 0;
}
