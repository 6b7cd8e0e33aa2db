// Slows guessing: after so many failures within a minute, a user's name or an address waits. It
// never locks an account for good, or anybody could lock out anybody. Thread-safe.
//
// It lives in one process: with several replicas each counts for itself.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/time.h"

namespace exa {

class AttemptLimiter {
 public:
  static constexpr size_t kMost = 10;
  static constexpr Duration kWindow = minutes(1);
  static constexpr size_t kMostKeys = 10'000;  // remembered at once; the oldest is forgotten first

  // Counts an attempt as failed until it is told otherwise, so that guesses made at the same time
  // do not all pass. too_many_requests, saying how long to wait, once a key has failed too often.
  // An empty user is none: only where it comes from counts. `origin`: "ADDRESS:PORT".
  Result<void> admit(const std::string& user, const std::string& origin, Time now);
  void succeeded(const std::string& user, const std::string& origin);

 private:
  Result<void> wait_of(const std::string& key, Time now);
  void count(const std::string& key, Time now);

  std::mutex mutex_;
  std::map<std::string, std::deque<Time>> failures_;
};

}  // namespace exa
