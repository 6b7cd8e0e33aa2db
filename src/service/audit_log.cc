#include "service/audit_log.h"

#include <fmt/format.h>

#include "audit/bundle.h"
#include "audit/key_file.h"
#include "base/text.h"
#include "service/audit_state.h"
#include "service/stored.h"

namespace exa {
namespace {

constexpr int64_t kRowsAtOnce = 2000;

// Hands the stored rows to a verifier in order, a batch at a time.
class StoredRows {
 public:
  explicit StoredRows(Transaction& tx) : tx_(tx) {}

  Result<bool> next(LogRow& row) {
    if (at_ == rows_.size()) {
      EXA_ASSIGN(
          rows_,
          tx_.rows(
              "SELECT idx, leaf, leaf_hash FROM audit_entry WHERE idx > $1 ORDER BY idx LIMIT $2",
              {last_, kRowsAtOnce}));
      at_ = 0;
      if (rows_.empty()) return false;
    }
    const Row& stored = rows_[at_++];
    last_ = stored.integer(0);
    // a hash of the wrong length is as wrong as a wrong hash
    row = {last_, stored.text(1), hash_from_bytes(stored.bytes(2)).value_or(Hash{})};
    return true;
  }

 private:
  Transaction& tx_;
  std::vector<Row> rows_;
  size_t at_ = 0;
  int64_t last_ = -1;
};

Answer answer_of(const Verdict& verdict) {
  Answer answer;
  answer.body = to_json(verdict);
  if (!verdict.ok) answer.exit_code = info(Code::audit_broken).exit_code;
  return answer;
}

Result<std::optional<PublicKey>> key_given(const std::optional<std::string>& text) {
  std::optional<PublicKey> key;
  if (!text) return key;
  EXA_ASSIGN(key, public_key_from_text(trim(*text)));
  return key;
}

Result<Answer> verify_exported(const VerifyAudit& what) {
  BundleAnchor anchor;
  EXA_ASSIGN(anchor.key, key_given(what.public_key));
  if (what.checkpoint) anchor.checkpoints.push_back(*what.checkpoint);
  const bool anchored = anchor.key.has_value();
  Answer answer = answer_of(verify_bundle(*what.bundle, std::move(anchor)));
  if (!anchored) {
    answer.notices.emplace_back(
        "the file was checked with the key inside it; give --public-key FILE (audit.pub, kept "
        "apart) to "
        "know who signed it");
  }
  return answer;
}

}  // namespace

Result<Answer> list_audit(Service& service, const ListAudit& what) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    json::array items;
    int64_t before = what.before.value_or(INT64_MAX);
    bool more = false;
    const auto fits = [](const std::string& wanted, const json::value& entry,
                         std::string_view key) {
      return wanted.empty() || text_or(entry, key, "") == wanted;
    };
    // Filters look into the leaves, which are kept verbatim; so rows are read in batches until
    // enough fit.
    while (!more) {
      EXA_ASSIGN(
          const auto rows,
          tx.rows("SELECT idx, leaf FROM audit_entry WHERE idx < $1 ORDER BY idx DESC LIMIT $2",
                  {before, kRowsAtOnce}));
      if (rows.empty()) break;
      for (const Row& row : rows) {
        before = row.integer(0);
        EXA_ASSIGN(json::value entry,
                   parse_stored(row.text(1), fmt::format("audit entry {}", before)));
        if (!fits(what.actor, entry, "actor_name") || !fits(what.action, entry, "action") ||
            !fits(what.outcome, entry, "outcome") || !fits(what.name, entry, "object_name")) {
          continue;
        }
        if (static_cast<int64_t>(items.size()) == what.limit) {
          more = true;
          break;
        }
        items.push_back(std::move(entry));
      }
    }
    Answer answer;
    json::value cursor = nullptr;
    if (more) cursor = std::to_string(items.back().at("index").as_int64());
    answer.body = {{"items", std::move(items)}, {"next_cursor", std::move(cursor)}};
    return answer;
  });
}

Result<Answer> verify_audit(Service& service, const VerifyAudit& what) {
  if (what.bundle) return verify_exported(what);
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const auto given, key_given(what.public_key));
    EXA_ASSIGN(const auto published, service.trail().public_key());
    EXA_ASSIGN(const auto checkpoint, service.trail().stored_checkpoint());
    const auto& key = given ? given : published;
    EXA_ASSIGN(const auto counted, tx.rows("SELECT COUNT(*) FROM audit_entry"));
    const bool empty = counted.at(0).integer(0) == 0;
    // The key is there before the first checkpoint is, and that before the first entry.
    if (empty && (!key || !checkpoint) && !what.checkpoint) {
      Answer answer;
      answer.body = {{"ok", true},
                     {"finding", "consistent"},
                     {"size", 0},
                     {"sentence", "the log is empty: nothing was changed yet"}};
      return answer;
    }
    if (!key) {
      return fail(Code::audit_broken,
                  "audit.pub is missing from the data folder, so the log cannot be verified",
                  "exa audit verify --public-key FILE");
    }
    StoredRows rows(tx);
    LogView view{*key, {}, [&](LogRow& row) { return rows.next(row); }};
    if (checkpoint) view.checkpoints.push_back(*checkpoint);
    if (what.checkpoint) view.checkpoints.push_back(*what.checkpoint);
    EXA_ASSIGN(const Verdict verdict, verify_log(view));
    Answer answer = answer_of(verdict);
    if (!verdict.ok) return answer;
    // The log is good; do the tables follow from it?
    EXA_ASSIGN(const auto unaccounted, unaccounted_state(tx));
    answer.body["unaccounted"] = json::array(unaccounted.begin(), unaccounted.end());
    if (!unaccounted.empty()) {
      answer.body["ok"] = false;
      answer.body["finding"] = "state_differs";
      answer.body["sentence"] = fmt::format(
          "the log is whole, but the tables do not follow from it: {}", unaccounted.front());
      answer.exit_code = info(Code::audit_broken).exit_code;
    }
    return answer;
  });
}

Result<Answer> recover_log(Service& service, const Caller& caller, const std::string& reason) {
  const Result<Answer> verified = verify_audit(service, {});
  if (!verified || verified->exit_code != 0) return service.recover_audit(caller, reason);
  Answer answer;
  answer.body = {{"recovered", false}, {"reason", reason}};
  answer.notices.emplace_back("there is nothing to recover: the log agrees with its checkpoint");
  return answer;
}

Result<Answer> export_audit(Service& service) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const auto key, service.trail().public_key());
    EXA_ASSIGN(const auto checkpoint, service.trail().stored_checkpoint());
    if (!key || !checkpoint) {
      return fail(Code::not_found, "there is nothing to export yet: the audit log is empty",
                  "exa audit list");
    }
    StoredRows rows(tx);
    Answer answer;
    answer.text.emplace();
    EXA_TRY(write_bundle(
        *key, {*checkpoint}, [&](LogRow& row) { return rows.next(row); },
        [&](std::string_view bytes) -> Result<void> {
          *answer.text += bytes;
          return {};
        }));
    return answer;
  });
}

}  // namespace exa
