// For tests: a small log with its key, rows and checkpoints.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/bundle.h"
#include "audit/checkpoint.h"
#include "audit/entry.h"
#include "audit/merkle.h"

namespace exa::testing {

inline SigningKey sample_key(uint8_t fill = 7, std::string_view log_id = "sample") {
  SigningKey::Seed seed;
  seed.fill(fill);
  return SigningKey::from_seed(log_id, seed);
}

inline AuditEntry sample_entry(int64_t index) {
  AuditEntry entry;
  entry.index = index;
  entry.time =
      Time{1'795'933'561'000'123 + index / 2 * 1'500'000};  // neighbours may share an instant
  entry.actor_kind = "os-user";
  entry.actor_name = "ada";
  entry.actor_id = "1000";
  entry.origin = "login1/4242";
  entry.action = "hardware_profile.set";
  entry.object_kind = "HardwareProfile";
  entry.object_name = fmt::format("shape-{}", index % 3);
  entry.project = "default";
  entry.object_version = index / 3 + 1;
  entry.outcome = index % 5 == 4 ? "refused" : "done";
  entry.error_code = index % 5 == 4 ? "conflict" : "";
  entry.reason = "größer for the \"long\" runs";
  entry.after_digest = sha256_hex(std::to_string(index));
  entry.details["labels"] = json::array{"prod", "next"};
  return entry;
}

inline std::string sample_leaf(int64_t index) {
  return leaf_text(sample_entry(index)).value();
}

struct StoredRow {
  int64_t index = 0;
  std::string text;
  Hash hash{};
};

inline StoredRow stored(int64_t index, std::string text) {
  const Hash hash = leaf_hash(text);
  return {index, std::move(text), hash};
}

inline std::vector<StoredRow> sample_rows(int64_t count) {
  std::vector<StoredRow> rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back(stored(i, sample_leaf(i)));
  return rows;
}

inline NextRow each_of(const std::vector<StoredRow>& rows) {
  return [&rows, next = size_t{0}](LogRow& row) mutable -> Result<bool> {
    if (next == rows.size()) return false;
    const StoredRow& stored = rows[next++];
    row = {stored.index, stored.text, stored.hash};
    return true;
  };
}

inline Checkpoint checkpoint_of(const std::vector<StoredRow>& rows, size_t size,
                                const PublicKey& key) {
  Frontier tree;
  for (size_t i = 0; i < size; ++i) append(tree, leaf_hash(rows[i].text));
  return {key.name, size, root(tree), Time{1'795'999'999'000'000}};
}

inline std::string signed_at(const std::vector<StoredRow>& rows, size_t size,
                             const SigningKey& key) {
  return sign_checkpoint(checkpoint_of(rows, size, key.public_key()), key);
}

// What lies in a database and beside it; 20 rows with checkpoints at 7, 14 and 20.
struct SampleLog {
  PublicKey key = sample_key().public_key();
  std::vector<StoredRow> rows = sample_rows(20);
  std::vector<std::string> checkpoints;
};

inline SampleLog sample_log() {
  static const SampleLog kLog = [] {
    SampleLog log;
    for (const size_t size : {7, 14, 20}) {
      log.checkpoints.push_back(signed_at(log.rows, size, sample_key()));
    }
    return log;
  }();
  return kLog;
}

inline Verdict verdict_of(const SampleLog& log) {
  return verify_log({log.key, log.checkpoints, each_of(log.rows)}).value();
}

inline std::string bundle_of(const SampleLog& log) {
  std::string text;
  const auto written = write_bundle(log.key, log.checkpoints, each_of(log.rows),
                                    [&](std::string_view bytes) -> Result<void> {
                                      text += bytes;
                                      return {};
                                    });
  EXA_ASSERT(written.has_value());
  return text;
}

}  // namespace exa::testing
