#include "server/launch_loop.h"

namespace exa {
namespace {

constexpr std::chrono::seconds kRound{10};

}  // namespace

void LaunchLoop::start(Periodic::Threw threw) {
  thread_.start(
      [this]() -> std::chrono::milliseconds {
        if (!ownership_.owns()) return kRound;
        const auto changed = watch_launches(service_, wanted_);
        // the store's own trouble shows in every answer
        if (changed && *changed > 0)
          log_.event(service_.now(), "launches", {{"changed", *changed}});
        return kRound;
      },
      std::move(threw));
}

void LaunchLoop::stop() {
  wanted_.cancel();
  thread_.stop();
}

}  // namespace exa
