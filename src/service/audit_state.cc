#include "service/audit_state.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "audit/digest.h"
#include "audit/entry.h"
#include "base/json.h"

namespace exa {
namespace {

constexpr size_t kMostSentences = 20;

struct ExpectedVersion {
  std::string digest;
  bool deleted = false;
};

struct ExpectedProfile {
  std::map<int64_t, ExpectedVersion> versions;
  std::map<std::string, int64_t> labels;
};

// By project and name.
using Expected = std::map<std::pair<std::string, std::string>, ExpectedProfile>;

void bury(ExpectedProfile& profile, int64_t version) {
  profile.versions[version].deleted = true;
  std::erase_if(profile.labels, [&](const auto& label) { return label.second == version; });
}

void replay(Expected& expected, const AuditEntry& entry) {
  if (entry.outcome != "done" || entry.object_kind != "hardware_profile") return;
  ExpectedProfile& profile = expected[{entry.project, entry.object_name}];
  const std::string label(text_or(entry.details, "label", ""));
  if (entry.action == "hardware_profile.set" && entry.object_version) {
    profile.versions[*entry.object_version] = {entry.after_digest, false};
    profile.labels[label] = *entry.object_version;
  } else if (entry.action == "hardware_profile.label" && entry.object_version) {
    profile.labels[label] = *entry.object_version;
  } else if (entry.action == "hardware_profile.delete") {
    const json::value* versions = entry.details.if_contains("versions");
    if (versions == nullptr || !versions->is_array()) return;
    for (const json::value& version : versions->get_array()) {
      if (version.is_int64()) bury(profile, version.get_int64());
    }
  }
}

Result<Expected> replayed_log(Transaction& tx) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT leaf FROM audit_entry ORDER BY idx"));
  Expected expected;
  for (const Row& row : rows) {
    EXA_ASSIGN(const AuditEntry entry, audit_entry_from_leaf(row.text(0)));
    replay(expected, entry);
  }
  return expected;
}

class Comparison {
 public:
  void say(std::string sentence) {
    if (sentences_.size() < kMostSentences) sentences_.push_back(std::move(sentence));
  }

  Result<void> versions(Transaction& tx, const Expected& expected) {
    EXA_ASSIGN(const auto rows,
               tx.rows("SELECT project, name, version, shape, deleted_at FROM profile_version"));
    std::set<std::tuple<std::string, std::string, int64_t>> seen;
    for (const Row& row : rows) {
      const std::string what = fmt::format("{}@{}", row.text(1), row.integer(2));
      seen.insert({row.text(0), row.text(1), row.integer(2)});
      const ExpectedVersion* wanted =
          find_version(expected, row.text(0), row.text(1), row.integer(2));
      if (wanted == nullptr) {
        say(fmt::format("{} was never set", what));
        continue;
      }
      EXA_ASSIGN(const json::value shape, parse_json(row.text(3), "stored shape"));
      if (sha256_hex(to_canonical_text(shape)) != wanted->digest) {
        say(fmt::format("the shape of {} is not the one that was set", what));
      }
      if (wanted->deleted == row.is_null(4)) {
        say(what + (wanted->deleted ? " was deleted, but is there"
                                    : " was never deleted, but is marked so"));
      }
    }
    for (const auto& [key, profile] : expected) {
      for (const auto& [version, wanted] : profile.versions) {
        if (!seen.contains({key.first, key.second, version})) {
          say(fmt::format("{}@{} was set, but its row is gone", key.second, version));
        }
      }
    }
    return {};
  }

  Result<void> labels(Transaction& tx, const Expected& expected) {
    EXA_ASSIGN(const auto rows, tx.rows("SELECT project, name, label, version FROM profile_label"));
    std::map<std::tuple<std::string, std::string, std::string>, int64_t> stored;
    for (const Row& row : rows) stored[{row.text(0), row.text(1), row.text(2)}] = row.integer(3);
    for (const auto& [key, profile] : expected) {
      for (const auto& [label, version] : profile.labels) {
        const auto found = stored.find({key.first, key.second, label});
        if (found == stored.end()) {
          say(fmt::format("label {} of {} is gone", label, key.second));
          continue;
        }
        if (found->second != version) {
          say(fmt::format("label {} of {} points at {}, but was moved to {}", label, key.second,
                          found->second, version));
        }
        stored.erase(found);
      }
    }
    for (const auto& [key, version] : stored) {
      say(fmt::format("label {} of {} was never given", std::get<2>(key), std::get<1>(key)));
    }
    return {};
  }

  Result<void> numbers(Transaction& tx, const Expected& expected) {
    EXA_ASSIGN(const auto rows, tx.rows("SELECT project, name, last_version FROM profile"));
    std::map<std::pair<std::string, std::string>, int64_t> stored;
    for (const Row& row : rows) stored[{row.text(0), row.text(1)}] = row.integer(2);
    for (const auto& [key, profile] : expected) {
      if (profile.versions.empty()) continue;
      const int64_t last = profile.versions.rbegin()->first;
      if (stored[key] != last) {
        say(fmt::format("the last number of {} is stored as {}, but {} was given", key.second,
                        stored[key], last));
      }
    }
    return {};
  }

  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  static const ExpectedVersion* find_version(const Expected& expected, const std::string& project,
                                             const std::string& name, int64_t version) {
    const auto profile = expected.find({project, name});
    if (profile == expected.end()) return nullptr;
    const auto found = profile->second.versions.find(version);
    return found == profile->second.versions.end() ? nullptr : &found->second;
  }

  std::vector<std::string> sentences_;
};

}  // namespace

Result<std::vector<std::string>> unaccounted_state(Transaction& tx) {
  EXA_ASSIGN(const Expected expected, replayed_log(tx));
  Comparison comparison;
  EXA_TRY(comparison.versions(tx, expected));
  EXA_TRY(comparison.labels(tx, expected));
  EXA_TRY(comparison.numbers(tx, expected));
  return comparison.take();
}

}  // namespace exa
