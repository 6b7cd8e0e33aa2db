#include "server/periodic.h"

#include <exception>

namespace exa {
namespace {

constexpr std::chrono::milliseconds kAfterThrown{1000};

}  // namespace

void Periodic::start(Round round, Threw threw) {
  thread_ = std::thread([this, round = std::move(round), threw = std::move(threw)] {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      woken_ = false;
      lock.unlock();
      const auto wait = one(round, threw);
      lock.lock();
      changed_.wait_for(lock, wait, [this] { return stopping_ || woken_; });
    }
  });
}

std::chrono::milliseconds Periodic::one(const Round& round, const Threw& threw) {
  try {
    return round();
  } catch (...) {
    threw(what_was_thrown());
    return kAfterThrown;
  }
}

void Periodic::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Periodic::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

bool Periodic::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return stopping_; });
}

std::string what_was_thrown() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    return thrown.what();
  } catch (...) {
    return "something that is no exception";
  }
}

}  // namespace exa
