// A thread that does one thing again and again until it is told to stop: what runs in the
// background of a server. Of its calls, pause() is for the thread itself, the others for any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace exa {

class Periodic {
 public:
  // One round; gives how long to wait before the next.
  using Round = std::function<std::chrono::milliseconds()>;
  // Is told, in words, what a round threw; the next comes a second later.
  using Threw = std::function<void(const std::string& why)>;

  ~Periodic() { stop(); }
  void start(Round round, Threw threw);
  void stop();  // waits for the round that goes on, and begins no other
  void wake();  // the next round comes now, or at once after this one

  // Within a round: waits, but not for longer than until stop(). False: it is to end.
  bool pause(std::chrono::milliseconds time);

 private:
  std::chrono::milliseconds one(const Round& round, const Threw& threw);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool woken_ = false;
  std::thread thread_;
};

// What a `catch (...)` that asks has caught, in words.
std::string what_was_thrown();

}  // namespace exa
