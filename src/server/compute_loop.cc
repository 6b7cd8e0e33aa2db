#include "server/compute_loop.h"

namespace exa {

void ComputeLoop::start(Periodic::Threw threw) {
  thread_.start(
      [this]() -> std::chrono::milliseconds {
        const std::chrono::milliseconds round(interval_.micros / 1000);
        if (!ownership_.owns()) return round;
        const auto began = std::chrono::steady_clock::now();
        const auto changed = reconcile_computes(service_, wanted_);
        // the store's own trouble shows in every answer
        if (changed && *changed > 0)
          log_.event(service_.now(), "computes", {{"changed", *changed}});
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::steady_clock::now() - began);
        return took < round ? round - took : std::chrono::milliseconds(1);
      },
      std::move(threw));
}

void ComputeLoop::stop() {
  wanted_.cancel();
  thread_.stop();
}

}  // namespace exa
