#include "store/turns.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace exa {
namespace {

// With std::mutex the thread that works takes it again before whoever waits has woken.
TEST(Turns, WhoeverTakesItAgainAndAgainKeepsNobodyOut) {
  Turns turns;
  std::atomic<bool> waits = false;
  std::atomic<int> after_it_waited = 0;
  std::atomic<bool> was_let_in = false;
  turns.lock();
  std::thread other([&] {
    waits = true;
    const std::lock_guard turn(turns);
    was_let_in = true;
  });
  while (!waits) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it is in the queue by now
  turns.unlock();
  while (!was_let_in) {
    const std::lock_guard again(turns);
    if (!was_let_in) ++after_it_waited;
  }
  other.join();
  EXPECT_LE(after_it_waited, 1);
}

}  // namespace
}  // namespace exa
