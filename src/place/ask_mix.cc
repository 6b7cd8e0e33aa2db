#include "place/ask_mix.h"

#include <algorithm>

namespace exa {

void AskMix::observe(const DeviceAsk& ask, int64_t count) {
  // a MIG instance never shares a card with a fraction: nothing that prices fractions may learn it
  if (ask.mig) return;
  AskKind kind{ask.cpu_milli, ask.devices == 0 ? 0 : ask.share_milli, ask.devices, ask.models};
  counts_[std::move(kind)] += count * ask.nodes;
  total_ += count * ask.nodes;
}

std::vector<AskFrequency> AskMix::by_frequency() const {
  std::vector<AskFrequency> rows;
  for (const auto& [kind, count] : counts_) rows.push_back({kind, count});
  std::ranges::sort(rows, [](const AskFrequency& a, const AskFrequency& b) {
    return a.count != b.count ? a.count > b.count : a.kind > b.kind;
  });
  return rows;
}

}  // namespace exa
