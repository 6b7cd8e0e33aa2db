#include "service/attempt_limiter.h"

#include <algorithm>

#include <fmt/format.h>

namespace exa {
namespace {

// Names and addresses are told apart; both are cut, so that none fills the memory.
std::string user_key(const std::string& user) {
  return "user " + user.substr(0, 128);
}

// Each connection has another port.
std::string origin_key(const std::string& origin) {
  return "from " + origin.substr(0, std::min<size_t>(origin.rfind(':'), 128));
}

}  // namespace

Result<void> AttemptLimiter::admit(const std::string& user, const std::string& origin, Time now) {
  const std::scoped_lock lock(mutex_);
  if (!user.empty()) EXA_TRY(wait_of(user_key(user), now));
  EXA_TRY(wait_of(origin_key(origin), now));
  if (!user.empty()) count(user_key(user), now);
  count(origin_key(origin), now);
  return {};
}

void AttemptLimiter::succeeded(const std::string& user, const std::string& origin) {
  const std::scoped_lock lock(mutex_);
  failures_.erase(user_key(user));
  const auto from = failures_.find(origin_key(origin));
  if (from == failures_.end()) return;
  from->second.pop_back();  // this one; others from there stay
  if (from->second.empty()) failures_.erase(from);
}

Result<void> AttemptLimiter::wait_of(const std::string& key, Time now) {
  const auto found = failures_.find(key);
  if (found == failures_.end()) return {};
  std::deque<Time>& times = found->second;
  while (!times.empty() && now - times.front() >= kWindow) times.pop_front();
  if (times.empty()) {
    failures_.erase(found);
    return {};
  }
  if (times.size() < kMost) return {};
  const int64_t wait = (kWindow.micros - (now - times.front()).micros) / 1'000'000 + 1;
  return fail(
      Code::too_many_requests,
      fmt::format("signing in failed {} times within a minute; try again in {} s", kMost, wait));
}

void AttemptLimiter::count(const std::string& key, Time now) {
  if (failures_.size() >= kMostKeys && !failures_.contains(key)) {
    const auto oldest = std::ranges::min_element(failures_, {}, [](const auto& pair) {
      return pair.second.empty() ? int64_t{0} : pair.second.back().micros;
    });
    failures_.erase(oldest);
  }
  std::deque<Time>& times = failures_[key];
  times.push_back(now);
  if (times.size() > kMost) times.pop_front();
}

}  // namespace exa
