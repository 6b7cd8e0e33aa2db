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

// Profiles by project and name; documents (pools, engines, decisions, leases, …) by kind and name,
// with the digest that was last written: empty once removed.
struct Expected {
  std::map<std::pair<std::string, std::string>, ExpectedProfile> profiles;
  std::map<std::pair<std::string, std::string>, std::string> documents;
};

// Tables whose rows are whole documents, each digested by the entry that wrote it.
struct DocumentTable {
  std::string_view kind;
  std::string_view table;
  std::string_view key;
};
constexpr DocumentTable kDocuments[] = {
    {"pool", "pool", "name"},
    {"engine", "engine", "name"},
    {"region", "region", "name"},
    {"burst_policy", "burst_policy", "name"},
    {"project_residency", "project_residency", "name"},
    {"decision", "decision", "id"},
    {"lease", "lease", "id"},
    {"burst_event", "burst_event", "id"},
    {"permit", "permit", "id"},
};

bool is_document(std::string_view kind) {
  return std::ranges::find(kDocuments, kind, &DocumentTable::kind) != std::end(kDocuments);
}

void bury(ExpectedProfile& profile, int64_t version) {
  profile.versions[version].deleted = true;
  std::erase_if(profile.labels, [&](const auto& label) { return label.second == version; });
}

void replay_documents(Expected& expected, const AuditEntry& entry) {
  if (is_document(entry.object_kind))
    expected.documents[{entry.object_kind, entry.object_name}] = entry.after_digest;
  const json::value* also = entry.details.if_contains("also");
  if (also == nullptr || !also->is_array()) return;
  for (const json::value& one : also->get_array()) {
    expected
        .documents[{std::string(text_or(one, "kind", "")), std::string(text_or(one, "name", ""))}] =
        text_or(one, "digest", "");
  }
}

void replay(Expected& expected, const AuditEntry& entry) {
  if (entry.outcome != "done") return;
  replay_documents(expected, entry);
  if (entry.object_kind != "hardware_profile") return;
  ExpectedProfile& profile = expected.profiles[{entry.project, entry.object_name}];
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
    for (const auto& [key, profile] : expected.profiles) {
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
    for (const auto& [key, profile] : expected.profiles) {
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
    for (const auto& [key, profile] : expected.profiles) {
      if (profile.versions.empty()) continue;
      const int64_t last = profile.versions.rbegin()->first;
      if (stored[key] != last) {
        say(fmt::format("the last number of {} is stored as {}, but {} was given", key.second,
                        stored[key], last));
      }
    }
    return {};
  }

  Result<void> documents(Transaction& tx, const Expected& expected) {
    std::set<std::pair<std::string, std::string>> seen;
    for (const DocumentTable& one : kDocuments) {
      EXA_ASSIGN(const auto rows,
                 tx.rows(fmt::format("SELECT {}, spec FROM {}", one.key, one.table)));
      for (const Row& row : rows) {
        const std::string what = fmt::format("{} {}", one.kind, row.text(0));
        seen.insert({std::string(one.kind), row.text(0)});
        const auto wanted = expected.documents.find({std::string(one.kind), row.text(0)});
        if (wanted == expected.documents.end() || wanted->second.empty()) {
          say(fmt::format("{} is there, but was never written or was removed", what));
          continue;
        }
        EXA_ASSIGN(const json::value spec, parse_json(row.text(1), "stored document"));
        if (sha256_hex(to_canonical_text(spec)) != wanted->second)
          say(fmt::format("{} is not the one that was written", what));
      }
    }
    for (const auto& [key, digest] : expected.documents) {
      if (!digest.empty() && !seen.contains(key))
        say(fmt::format("{} {} was written, but its row is gone", key.first, key.second));
    }
    return {};
  }

  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  static const ExpectedVersion* find_version(const Expected& expected, const std::string& project,
                                             const std::string& name, int64_t version) {
    const auto profile = expected.profiles.find({project, name});
    if (profile == expected.profiles.end()) return nullptr;
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
  EXA_TRY(comparison.documents(tx, expected));
  return comparison.take();
}

}  // namespace exa
