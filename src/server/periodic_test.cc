#include "server/periodic.h"

#include <atomic>
#include <future>
#include <stdexcept>

#include <gtest/gtest.h>

namespace exa {
namespace {

using namespace std::chrono_literals;

TEST(Periodic, WhoWakesItDoesNotWait) {
  std::atomic<int> rounds = 0;
  Periodic periodic;
  periodic.start(
      [&] {
        ++rounds;
        return 1h;
      },
      [](const std::string&) {});
  for (int wanted = 1; wanted < 10; ++wanted) {
    while (rounds < wanted) std::this_thread::yield();
    periodic.wake();
  }
  periodic.stop();
  const int done = rounds;
  periodic.wake();
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(rounds, done);
}

TEST(Periodic, ARoundThatThrowsIsToldAndNotTheLast) {
  std::promise<std::string> told;
  std::atomic<int> rounds = 0;
  Periodic periodic;
  periodic.start(
      [&] {
        if (++rounds == 1) throw std::runtime_error("out of luck");
        return 0ms;
      },
      [&](const std::string& why) { told.set_value(why); });
  EXPECT_EQ(told.get_future().get(), "out of luck");
  while (rounds < 2) std::this_thread::sleep_for(1ms);
}

TEST(Periodic, ARoundThatPausesEndsWhenItIsToStop) {
  std::promise<void> paused;
  bool ended = false;
  Periodic periodic;
  periodic.start(
      [&] {
        paused.set_value();
        ended = !periodic.pause(1h);
        return 0ms;
      },
      [](const std::string&) {});
  paused.get_future().wait();
  periodic.stop();
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace exa
