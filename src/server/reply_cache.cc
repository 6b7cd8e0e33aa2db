#include "server/reply_cache.h"

namespace exa {
namespace {

constexpr auto kHolds = std::chrono::milliseconds(250);

}  // namespace

std::optional<Outgoing> ReplyCache::find(const std::string& who, const std::string& target,
                                         uint64_t changes, Moment now) const {
  const std::string key = key_of(who, target);
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.changes != changes || found->second.until <= now)
    return std::nullopt;
  return found->second.answer;
}

void ReplyCache::keep(const std::string& who, const std::string& target, uint64_t changes,
                      Moment now, const Outgoing& answer) {
  if (!answer.body || answer.body->size() > most_bytes_ / 8) return;
  std::string key = key_of(who, target);
  const std::lock_guard lock(mutex_);
  // Entries are short-lived, so whatever is asked again is soon back: no order of use is kept.
  if (bytes_ + answer.body->size() > most_bytes_) {
    entries_.clear();
    bytes_ = 0;
  }
  const auto [entry, fresh] = entries_.try_emplace(std::move(key));
  if (!fresh) bytes_ -= entry->second.answer.body->size();
  bytes_ += answer.body->size();
  entry->second = {changes, now + kHolds, answer};
}

}  // namespace exa
