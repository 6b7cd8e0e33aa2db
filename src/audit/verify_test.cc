// The tamper table: what someone with the whole database, but without the signing key, may try.
// Each class is tried at every place of a log of 20 entries.
#include "audit/verify.h"

#include <gmock/gmock.h>

#include "audit/sample_log.h"
#include "base/text.h"

namespace exa {
namespace {

using namespace exa::testing;

struct Range {
  int64_t first = 0;
  int64_t last = 0;
};

// Between which checkpoints entry i lies: as near as roots alone can tell.
Range between_checkpoints(size_t i) {
  if (i < 7) return {0, 6};
  return i < 14 ? Range{7, 13} : Range{14, 19};
}

Range only(size_t i) {
  return {static_cast<int64_t>(i), static_cast<int64_t>(i)};
}

void expect_found(const SampleLog& log, Finding finding, std::optional<Range> range,
                  const std::string& trace) {
  SCOPED_TRACE(trace);
  const Verdict verdict = verdict_of(log);
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(name(verdict.finding), name(finding)) << verdict.sentence;
  EXPECT_FALSE(verdict.where.empty());
  EXPECT_FALSE(verdict.sentence.empty());
  EXPECT_EQ(verdict.first_bad_index, range ? std::optional(range->first) : std::nullopt);
  EXPECT_EQ(verdict.last_bad_index, range ? std::optional(range->last) : std::nullopt);
}

// Gives row i the text and its proper hash, as an attacker with write access would.
void rewrite(SampleLog& log, size_t i, std::string text) {
  log.rows[i] = stored(log.rows[i].index, std::move(text));
}

void edit(SampleLog& log, size_t i, const std::function<void(AuditEntry&)>& change) {
  AuditEntry entry = audit_entry_from_leaf(log.rows[i].text).value();
  change(entry);
  rewrite(log, i, leaf_text(entry).value());
}

// Writes indexes, texts and hashes anew so that all of them fit their places.
void renumber(SampleLog& log) {
  for (size_t i = 0; i < log.rows.size(); ++i) {
    log.rows[i].index = static_cast<int64_t>(i);
    edit(log, i, [&](AuditEntry& entry) { entry.index = static_cast<int64_t>(i); });
  }
}

void remove_row(SampleLog& log, size_t i) {
  log.rows.erase(log.rows.begin() + static_cast<long>(i));
}

void insert_copy(SampleLog& log, size_t i) {
  log.rows.insert(log.rows.begin() + static_cast<long>(i) + 1, log.rows[i]);
}

struct Tamper {
  std::string_view what;
  std::function<bool(SampleLog&, size_t)> change;  // false where place i does not apply
  Finding finding;
  std::function<Range(size_t)> range;
};

template <typename Change>
std::function<bool(SampleLog&, size_t)> always(Change change) {
  return [change](SampleLog& log, size_t i) {
    change(log, i);
    return true;
  };
}

auto field(std::function<void(AuditEntry&)> change) {
  return always([change](SampleLog& log, size_t i) { edit(log, i, change); });
}

const std::vector<Tamper>& row_tampers() {
  static const std::vector<Tamper> kTampers = {
      {"text edited, hash kept",
       always([](SampleLog& log, size_t i) { log.rows[i].text[40] ^= 1; }),
       Finding::leaf_hash_differs, only},
      {"hash edited", always([](SampleLog& log, size_t i) { log.rows[i].hash[31] ^= 1; }),
       Finding::leaf_hash_differs, only},
      {"text emptied, hash kept",
       always([](SampleLog& log, size_t i) { log.rows[i].text.clear(); }),
       Finding::leaf_hash_differs, only},
      {"actor kind changed and hashed anew", field([](AuditEntry& e) { e.actor_kind = "user"; }),
       Finding::root_differs, between_checkpoints},
      {"actor name changed", field([](AuditEntry& e) { e.actor_name = "eve"; }),
       Finding::root_differs, between_checkpoints},
      {"actor id changed", field([](AuditEntry& e) { e.actor_id = "0"; }), Finding::root_differs,
       between_checkpoints},
      {"origin changed", field([](AuditEntry& e) { e.origin = "elsewhere"; }),
       Finding::root_differs, between_checkpoints},
      {"action changed", field([](AuditEntry& e) { e.action = "hardware_profile.delete"; }),
       Finding::root_differs, between_checkpoints},
      {"object kind changed", field([](AuditEntry& e) { e.object_kind = "Cluster"; }),
       Finding::root_differs, between_checkpoints},
      {"object name changed", field([](AuditEntry& e) { e.object_name += "x"; }),
       Finding::root_differs, between_checkpoints},
      {"project changed", field([](AuditEntry& e) { e.project = "other"; }), Finding::root_differs,
       between_checkpoints},
      {"version changed", field([](AuditEntry& e) { ++*e.object_version; }), Finding::root_differs,
       between_checkpoints},
      {"version removed", field([](AuditEntry& e) { e.object_version.reset(); }),
       Finding::root_differs, between_checkpoints},
      {"outcome turned round", field([](AuditEntry& e) {
         e.error_code = e.outcome == "done" ? "conflict" : "";
         e.outcome = e.outcome == "done" ? "refused" : "done";
       }),
       Finding::root_differs, between_checkpoints},
      {"reason changed", field([](AuditEntry& e) { e.reason.clear(); }), Finding::root_differs,
       between_checkpoints},
      {"digest before changed", field([](AuditEntry& e) { e.before_digest = sha256_hex("x"); }),
       Finding::root_differs, between_checkpoints},
      {"digest after changed", field([](AuditEntry& e) { e.after_digest.clear(); }),
       Finding::root_differs, between_checkpoints},
      {"details changed", field([](AuditEntry& e) { e.details.clear(); }), Finding::root_differs,
       between_checkpoints},
      {"time moved by a microsecond",
       [](SampleLog& log, size_t i) {
         if (i % 2 == 0)
           return false;  // the later of two of one instant may move without a trace in time
         edit(log, i, [](AuditEntry& e) { ++e.time.micros; });
         return true;
       },
       Finding::root_differs, between_checkpoints},
      {"time moved back before the entry before",
       [](SampleLog& log, size_t i) {
         if (i == 0) return false;
         edit(log, i, [](AuditEntry& e) { e.time.micros -= 10'000'000; });
         return true;
       },
       Finding::time_backwards, only},
      {"index in the text raised", field([](AuditEntry& e) { ++e.index; }), Finding::gap, only},
      {"index in the text lowered",
       [](SampleLog& log, size_t i) {
         if (i == 0) return false;
         edit(log, i, [](AuditEntry& e) { --e.index; });
         return true;
       },
       Finding::out_of_order, only},
      {"stored index raised", always([](SampleLog& log, size_t i) { log.rows[i].index += 100; }),
       Finding::gap, only},
      {"stored index negative", always([](SampleLog& log, size_t i) { log.rows[i].index = -1; }),
       Finding::out_of_order, only},
      {"blanks added to the text",
       always([](SampleLog& log, size_t i) { rewrite(log, i, "{ " + log.rows[i].text.substr(1)); }),
       Finding::root_differs, between_checkpoints},
      {"blank before the text",
       always([](SampleLog& log, size_t i) { rewrite(log, i, " " + log.rows[i].text); }),
       Finding::malformed_entry, only},
      {"text replaced by no entry", always([](SampleLog& log, size_t i) { rewrite(log, i, "{}"); }),
       Finding::malformed_entry, only},
      {"text cut",
       always([](SampleLog& log, size_t i) { rewrite(log, i, log.rows[i].text.substr(0, 99)); }),
       Finding::malformed_entry, only},
      {"field added", always([](SampleLog& log, size_t i) {
         rewrite(log, i, R"({"admin":true,)" + log.rows[i].text.substr(1));
       }),
       Finding::malformed_entry, only},
      {"field written twice", always([](SampleLog& log, size_t i) {
         rewrite(log, i, R"({"reason":"other",)" + log.rows[i].text.substr(1));
       }),
       Finding::malformed_entry, only},
      {"row removed",
       [](SampleLog& log, size_t i) {
         if (i == 19) return false;  // that is a cut end
         remove_row(log, i);
         return true;
       },
       Finding::gap, only},
      {"row removed, rows renumbered",
       [](SampleLog& log, size_t i) {
         if (i == 19) return false;
         remove_row(log, i);
         for (size_t k = i; k < log.rows.size(); ++k) log.rows[k].index = static_cast<int64_t>(k);
         return true;
       },
       Finding::gap, only},
      {"row removed, all written anew",
       [](SampleLog& log, size_t i) {
         if (i >= 14) return false;  // the last stretch then ends before its checkpoint
         remove_row(log, i);
         renumber(log);
         return true;
       },
       Finding::root_differs, between_checkpoints},
      {"row doubled", always(insert_copy), Finding::out_of_order,
       [](size_t i) { return only(i + 1); }},
      {"row doubled, all written anew", always([](SampleLog& log, size_t i) {
         insert_copy(log, i);
         renumber(log);
       }),
       Finding::root_differs,
       // the copy of a last row before a checkpoint is only the next stretch's first
       [](size_t i) {
         return i == 6 ? Range{7, 13} : i == 13 ? Range{14, 19} : between_checkpoints(i);
       }},
      {"neighbours swapped",
       [](SampleLog& log, size_t i) {
         if (i == 19) return false;
         std::swap(log.rows[i], log.rows[i + 1]);
         return true;
       },
       Finding::gap, only},
      {"texts of neighbours swapped",
       [](SampleLog& log, size_t i) {
         if (i == 19) return false;
         std::swap(log.rows[i], log.rows[i + 1]);
         std::swap(log.rows[i].index, log.rows[i + 1].index);
         return true;
       },
       Finding::gap, only},
      {"end cut", always([](SampleLog& log, size_t i) { log.rows.resize(i); }),
       Finding::log_too_short,
       [](size_t i) {
         return Range{static_cast<int64_t>(i), 19};
       }},
      {"all from here on hashed anew", always([](SampleLog& log, size_t i) {
         for (size_t k = i; k < 20; ++k) edit(log, k, [](AuditEntry& e) { e.actor_name = "eve"; });
       }),
       Finding::root_differs, between_checkpoints},
  };
  return kTampers;
}

TEST(Tampering, EveryChangeOfARowIsFoundAndLocated) {
  size_t tried = 0;
  for (const Tamper& tamper : row_tampers()) {
    for (size_t i = 0; i < 20; ++i) {
      SampleLog log = sample_log();
      if (!tamper.change(log, i)) continue;
      ++tried;
      // "row doubled, all written anew" at the very end only adds an entry that nothing covers yet
      if (tamper.what == "row doubled, all written anew" && i == 19) {
        EXPECT_EQ(verdict_of(log).entries_after_checkpoint, 1);
        continue;
      }
      expect_found(log, tamper.finding, tamper.range(i), fmt::format("{} at {}", tamper.what, i));
    }
  }
  EXPECT_GE(row_tampers().size(), 25);
  EXPECT_GE(tried, 700);
}

struct CheckpointTamper {
  std::string_view what;
  std::function<void(SampleLog&)> change;
  Finding finding;
  std::optional<Range> range;
};

void replace_in(std::string& text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXA_ASSERT(at != std::string::npos);
  text.replace(at, from.size(), to);
}

void sign_all(SampleLog& log, const SigningKey& key) {
  log.checkpoints.clear();
  for (const size_t size : {7, 14, 20}) log.checkpoints.push_back(signed_at(log.rows, size, key));
}

const std::vector<CheckpointTamper>& checkpoint_tampers() {
  static const std::vector<CheckpointTamper> kTampers = {
      {"all written and signed anew with another key",
       [](SampleLog& log) {
         for (size_t i = 0; i < 20; ++i) edit(log, i, [](AuditEntry& e) { e.actor_name = "eve"; });
         sign_all(log, sample_key(66));
       },
       Finding::unknown_key,
       {}},
      {"signed with the same seed under another log's name",
       [](SampleLog& log) { sign_all(log, sample_key(7, "other")); },
       Finding::unknown_key,
       {}},
      {"all checkpoints removed",
       [](SampleLog& log) { log.checkpoints.clear(); },
       Finding::no_checkpoint,
       {}},
      {"all rows and checkpoints removed",
       [](SampleLog& log) {
         log.rows.clear();
         log.checkpoints.clear();
       },
       Finding::no_checkpoint,
       {}},
      {"size lowered",
       [](SampleLog& log) { replace_in(log.checkpoints[2], "\n20\n", "\n19\n"); },
       Finding::bad_signature,
       {}},
      {"root replaced",
       [](SampleLog& log) {
         replace_in(log.checkpoints[1], base64(checkpoint_of(log.rows, 14, log.key).root),
                    base64(sha256("x")));
       },
       Finding::bad_signature,
       {}},
      {"root cut",
       [](SampleLog& log) {
         replace_in(log.checkpoints[1], base64(checkpoint_of(log.rows, 14, log.key).root), "AAAA");
       },
       Finding::malformed_checkpoint,
       {}},
      {"root of other rows under the old signature",
       [](SampleLog& log) {
         const std::string old = base64(checkpoint_of(log.rows, 20, log.key).root);
         edit(log, 3, [](AuditEntry& e) { e.actor_name = "eve"; });
         replace_in(log.checkpoints[2], old, base64(checkpoint_of(log.rows, 20, log.key).root));
         log.checkpoints = {log.checkpoints[2]};
       },
       Finding::bad_signature,
       {}},
      {"signature of one checkpoint on another",
       [](SampleLog& log) {
         const std::string signature = log.checkpoints[1].substr(log.checkpoints[1].find("\n\n"));
         log.checkpoints[2].replace(log.checkpoints[2].find("\n\n"), std::string::npos, signature);
       },
       Finding::bad_signature,
       {}},
      {"signature removed",
       [](SampleLog& log) { log.checkpoints[0].resize(log.checkpoints[0].find("\n\n") + 2); },
       Finding::malformed_checkpoint,
       {}},
      {"checkpoint emptied",
       [](SampleLog& log) { log.checkpoints[0].clear(); },
       Finding::malformed_checkpoint,
       {}},
      {"two signed histories",
       [](SampleLog& log) {
         SampleLog other = sample_log();
         edit(other, 3, [](AuditEntry& e) { e.actor_name = "eve"; });
         log.checkpoints.push_back(signed_at(other.rows, 14, sample_key()));
       },
       Finding::checkpoints_disagree,
       {}},
      {"a remembered checkpoint of another history of another size",
       [](SampleLog& log) {
         SampleLog other = sample_log();
         edit(other, 10, [](AuditEntry& e) { e.actor_name = "eve"; });
         log.checkpoints.push_back(signed_at(other.rows, 12, sample_key()));
       },
       Finding::root_differs, Range{7, 11}},
      {"an old copy of the database, the newest checkpoint remembered",
       [](SampleLog& log) { log.rows.resize(14); }, Finding::log_too_short, Range{14, 19}},
      {"an old copy that went on differently",
       [](SampleLog& log) {
         for (size_t i = 14; i < 20; ++i)
           edit(log, i, [](AuditEntry& e) { e.action = "cluster.add"; });
       },
       Finding::root_differs, Range{14, 19}},
      {"the rows of another log",
       [](SampleLog& log) {
         for (size_t i = 0; i < 20; ++i) edit(log, i, [](AuditEntry& e) { e.project = "theirs"; });
       },
       Finding::root_differs, Range{0, 6}},
      {"a signed checkpoint of the empty log with a root",
       [](SampleLog& log) {
         log.checkpoints.push_back(
             sign_checkpoint({log.key.name, 0, sha256("x"), {}}, sample_key()));
       },
       Finding::root_differs,
       {}},
  };
  return kTampers;
}

TEST(Tampering, EveryChangeOfACheckpointIsFound) {
  for (const CheckpointTamper& tamper : checkpoint_tampers()) {
    SampleLog log = sample_log();
    tamper.change(log);
    expect_found(log, tamper.finding, tamper.range, std::string(tamper.what));
  }
}

TEST(Verification, AnUntouchedLogIsConsistentAtEverySize) {
  for (size_t size = 0; size <= 40; ++size) {
    SampleLog log;
    log.rows = sample_rows(static_cast<int64_t>(size));
    for (size_t at = 0; at <= size; at += 1 + size / 5) {
      log.checkpoints.push_back(signed_at(log.rows, at, sample_key()));
    }
    const Verdict verdict = verdict_of(log);
    EXPECT_TRUE(verdict.ok) << size << ": " << verdict.sentence;
    EXPECT_EQ(verdict.finding, Finding::consistent);
    EXPECT_EQ(verdict.size, size);
    EXPECT_EQ(verdict.root, checkpoint_of(log.rows, size, log.key).root);
    EXPECT_EQ(verdict.size, *verdict.checkpoint_size + verdict.entries_after_checkpoint);
  }
}

TEST(Verification, CheckpointsMayComeInAnyOrderAndTwice) {
  SampleLog log = sample_log();
  std::ranges::reverse(log.checkpoints);
  log.checkpoints.push_back(log.checkpoints[0]);
  EXPECT_TRUE(verdict_of(log).ok);
}

TEST(Verification, EntriesThatAreNotSignedYetAreCountedAndSaid) {
  SampleLog log = sample_log();
  log.checkpoints.pop_back();
  const Verdict verdict = verdict_of(log);
  EXPECT_TRUE(verdict.ok);
  EXPECT_EQ(verdict.checkpoint_size, 14);
  EXPECT_EQ(verdict.entries_after_checkpoint, 6);
  EXPECT_THAT(verdict.sentence, ::testing::HasSubstr("6 entries after it not signed yet"));
}

TEST(Verification, AnUnreadableSourceIsAnErrorAndNoVerdict) {
  const SampleLog log = sample_log();
  const auto verdict = verify_log({log.key, log.checkpoints, [](LogRow&) -> Result<bool> {
                                     return fail(Code::store_locked, "busy");
                                   }});
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, Code::store_locked);
}

TEST(Verification, StopsAtTheFirstTrouble) {
  SampleLog log = sample_log();
  log.rows[3].text.clear();
  log.rows[9].text.clear();
  const Verdict verdict = verdict_of(log);
  EXPECT_EQ(verdict.first_bad_index, 3);
  EXPECT_EQ(verdict.size, 3);
}

TEST(Verification, TheVerdictIsAlsoData) {
  const std::string text = to_text(to_json(verdict_of(sample_log())));
  EXPECT_THAT(text, ::testing::HasSubstr(R"("ok":true,"finding":"consistent","where":"")"));
  EXPECT_THAT(text, ::testing::HasSubstr(R"("checkpoint_size":20,"entries_after_checkpoint":0)"));
}

}  // namespace
}  // namespace exa
