#include "audit/replay.h"

#include <fmt/format.h>

#include "audit/entry.h"

namespace exa {
namespace {

Finding finding_of(CheckpointFault fault) {
  switch (fault) {
    case CheckpointFault::malformed:
      return Finding::malformed_checkpoint;
    case CheckpointFault::unknown_key:
      return Finding::unknown_key;
    case CheckpointFault::bad_signature:
      return Finding::bad_signature;
    case CheckpointFault::other_log:
      return Finding::other_log;
  }
  EXA_ASSERT(false);
}

Trouble at_entry(Finding finding, int64_t index, std::string sentence) {
  return {finding, fmt::format("entry {}", index), std::move(sentence), index, index};
}

std::string first_problem(const Error& error) {
  if (error.problems.empty()) return error.message;
  return fmt::format("{} {}", error.problems[0].where, error.problems[0].message);
}

std::string plural(uint64_t count) {
  return count == 1 ? "1 entry" : fmt::format("{} entries", count);
}

}  // namespace

std::string entries_from_to(uint64_t first, uint64_t last) {
  return first == last ? fmt::format("entry {}", first)
                       : fmt::format("entries {} to {}", first, last);
}

LogReplay::LogReplay(PublicKey key) : key_(std::move(key)) {}

bool LogReplay::refuse(Trouble trouble) {
  if (!trouble_) trouble_ = std::move(trouble);
  return false;
}

std::optional<Checkpoint> LogReplay::checked(std::string_view text, const std::string& where) {
  if (trouble_) return std::nullopt;
  auto checkpoint = check_checkpoint(text, key_);
  if (checkpoint) return *std::move(checkpoint);
  const CheckpointRefusal& refusal = checkpoint.error();
  refuse({finding_of(refusal.fault),
          where,
          fmt::format("{} cannot be trusted: {}", where, refusal.message),
          {},
          {}});
  return std::nullopt;
}

bool LogReplay::expect(std::string_view text, std::string where) {
  const auto checkpoint = checked(text, where);
  if (!checkpoint) return false;
  const auto place = std::ranges::lower_bound(expected_, checkpoint->size, {}, &Checkpoint::size);
  if (place == expected_.end() || place->size != checkpoint->size) {
    expected_.insert(place, *checkpoint);
    return true;
  }
  if (place->root == checkpoint->root) return true;
  return refuse(
      {Finding::checkpoints_disagree,
       where,
       fmt::format("two checkpoints with good signatures give different roots for size {}: "
                   "the log had two histories",
                   checkpoint->size),
       {},
       {}});
}

bool LogReplay::start() {
  return !trouble_ && compare_expected();
}

bool LogReplay::index_follows(int64_t found) {
  const auto wanted = static_cast<int64_t>(tree_.size);
  if (found == wanted) return true;
  const Finding finding = found > wanted ? Finding::gap : Finding::out_of_order;
  return refuse(at_entry(finding, wanted,
                         fmt::format("entry {} stands where entry {} belongs", found, wanted)));
}

bool LogReplay::compare(const Checkpoint& checkpoint) {
  if (root(tree_) == checkpoint.root) {
    matched_ = checkpoint.size;
    return true;
  }
  if (checkpoint.size == 0) {
    return refuse({Finding::root_differs,
                   "checkpoint of size 0",
                   "the checkpoint of the empty log has the root of another",
                   {},
                   {}});
  }
  const uint64_t first = matched_.value_or(0), last = checkpoint.size - 1;
  const std::string where = entries_from_to(first, last);
  return refuse({Finding::root_differs, where,
                 fmt::format("the root over {} differs from the checkpoint of size {}: among {} "
                             "something was changed, added or removed",
                             plural(checkpoint.size), checkpoint.size, where),
                 static_cast<int64_t>(first), static_cast<int64_t>(last)});
}

bool LogReplay::compare_expected() {
  if (next_expected_ == expected_.size() || expected_[next_expected_].size != tree_.size)
    return true;
  return compare(expected_[next_expected_++]);
}

bool LogReplay::row(const LogRow& row) {
  if (trouble_) return false;
  if (!index_follows(row.index)) return false;
  const Hash hash = leaf_hash(row.leaf_text);
  if (row.leaf_hash && *row.leaf_hash != hash) {
    return refuse(at_entry(
        Finding::leaf_hash_differs, row.index,
        fmt::format("the text of entry {} does not have the hash stored with it", row.index)));
  }
  const bool braced = row.leaf_text.starts_with('{') && row.leaf_text.ends_with('}');
  const Result<AuditEntry> entry = audit_entry_from_leaf(row.leaf_text);
  if (!entry || !braced) {
    return refuse(
        at_entry(Finding::malformed_entry, row.index,
                 fmt::format("entry {} is not an audit entry: {}", row.index,
                             entry ? "blanks stand around it" : first_problem(entry.error()))));
  }
  if (!index_follows(entry->index)) return false;
  if (last_time_ && entry->time < *last_time_) {
    return refuse(at_entry(Finding::time_backwards, row.index,
                           fmt::format("entry {} is dated before the entry before it", row.index)));
  }
  last_time_ = entry->time;
  append(tree_, hash);
  return compare_expected();
}

bool LogReplay::checkpoint_here(std::string_view text, std::string where) {
  const auto checkpoint = checked(text, where);
  if (!checkpoint) return false;
  if (checkpoint->size > tree_.size) {
    return refuse({Finding::log_too_short, where,
                   fmt::format("the checkpoint covers {}, but only {} stand before it",
                               plural(checkpoint->size), tree_.size),
                   static_cast<int64_t>(tree_.size), static_cast<int64_t>(checkpoint->size) - 1});
  }
  if (checkpoint->size < tree_.size) {
    return refuse({Finding::not_covered, where,
                   fmt::format("the checkpoint covers {}, but {} stand before it",
                               plural(checkpoint->size), tree_.size),
                   static_cast<int64_t>(checkpoint->size), static_cast<int64_t>(tree_.size) - 1});
  }
  return compare(*checkpoint);
}

// What can be said only at the end of the log.
void LogReplay::conclude() {
  if (trouble_) return;
  if (!expected_.empty() && expected_.back().size > tree_.size) {
    const uint64_t size = expected_.back().size;
    refuse(
        {Finding::log_too_short, entries_from_to(tree_.size, size - 1),
         fmt::format("a checkpoint covers {}, but the log has {}: its end was cut or an old copy "
                     "was restored",
                     plural(size), plural(tree_.size)),
         static_cast<int64_t>(tree_.size), static_cast<int64_t>(size) - 1});
  } else if (!matched_) {
    refuse({Finding::no_checkpoint,
            "end",
            "there is no checkpoint, so nothing shows that the log is whole",
            {},
            {}});
  }
}

Verdict LogReplay::verdict() {
  conclude();
  Verdict verdict;
  verdict.size = tree_.size;
  verdict.root = root(tree_);
  verdict.checkpoint_size = matched_;
  verdict.entries_after_checkpoint = tree_.size - matched_.value_or(0);
  verdict.key = to_text(key_);
  if (trouble_) {
    verdict.finding = trouble_->finding;
    verdict.where = trouble_->where;
    verdict.sentence = trouble_->sentence;
    verdict.first_bad_index = trouble_->first;
    verdict.last_bad_index = trouble_->last;
    return verdict;
  }
  verdict.ok = true;
  verdict.finding = Finding::consistent;
  verdict.sentence = fmt::format("{} {} with the checkpoint of size {}", plural(*matched_),
                                 *matched_ == 1 ? "agrees" : "agree", *matched_);
  if (verdict.entries_after_checkpoint > 0) {
    verdict.sentence +=
        fmt::format("; {} after it not signed yet", plural(verdict.entries_after_checkpoint));
  }
  return verdict;
}

}  // namespace exa
