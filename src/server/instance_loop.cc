#include "server/instance_loop.h"

namespace exa {
namespace {

constexpr std::chrono::seconds kRound{10};

}  // namespace

void InstanceLoop::start(Periodic::Threw threw) {
  for (std::thread& worker : workers_) worker = std::thread([this, threw] { work(threw); });
  looking_.start(
      [this]() -> std::chrono::milliseconds {
        if (!ownership_.owns()) return kRound;
        auto tended = tend_instances(service_, wanted_);
        // the store's own trouble shows in every answer
        if (!tended) return kRound;
        if (tended->changed > 0)
          log_.event(service_.now(), "instances", {{"changed", tended->changed}});
        hand_out(std::move(tended->due));
        return kRound;
      },
      std::move(threw));
}

void InstanceLoop::stop() {
  wanted_.cancel();
  looking_.stop();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    queue_.clear();
  }
  more_.notify_all();
  for (std::thread& worker : workers_)
    if (worker.joinable()) worker.join();
}

void InstanceLoop::hand_out(std::vector<ComputeInstance> due) {
  const std::lock_guard lock(mutex_);
  for (ComputeInstance& instance : due)
    if (taken_.insert(instance.id).second) queue_.push_back(std::move(instance));
  more_.notify_all();
}

void InstanceLoop::work(const Periodic::Threw& threw) {
  std::unique_lock lock(mutex_);
  while (true) {
    more_.wait(lock, [&] { return ended_ || !queue_.empty(); });
    if (ended_) return;
    const ComputeInstance instance = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    try {
      act(instance);
    } catch (...) {
      threw(what_was_thrown());
    }
    lock.lock();
    taken_.erase(instance.id);
  }
}

void InstanceLoop::act(const ComputeInstance& instance) {
  const auto done = do_what_is_due(service_, instance, wanted_);
  if (done) return;
  log_.event(service_.now(), "instance not tended",
             {{"instance", instance.key()}, {"error", done.error().message}});
}

}  // namespace exa
