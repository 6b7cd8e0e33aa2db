#include "service/copy.h"

#include <system_error>

#include <fmt/format.h>

#include "audit/key_file.h"
#include "base/private_folder.h"
#include "service/audit_log.h"
#include "store/sqlite.h"
#include "store/tables.h"

namespace exa {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRowsAtOnce = 1000;

Result<void> verify(const Installation& installation, const Clock& clock, std::string_view which,
                    Progress& progress) {
  AuditTrail trail(installation.files);
  Service service(installation.store, trail, {clock, {}, {}});
  EXA_ASSIGN(const Answer verdict, verify_audit(service, {}, progress));
  if (verdict.exit_code == 0) return {};
  return fail(Code::audit_broken,
              fmt::format("the audit log of the {} does not verify: {}", which,
                          text_or(verdict.body, "sentence", "")),
              "exa audit verify");
}

std::string parameters(size_t count) {
  std::string text;
  for (size_t i = 1; i <= count; ++i) text += fmt::format("{}${}", i == 1 ? "" : ", ", i);
  return text;
}

// The rows after `last` (or the first ones) in the order of the key, which both backends compare as
// a whole.
Result<std::vector<Row>> next_rows(Transaction& from, const TableKey& table, const Row* last) {
  const std::string key = fmt::format("{}", fmt::join(table.columns, ", "));
  std::vector<Value> values;
  std::string after;
  if (last != nullptr) {
    for (const size_t place : table.places) values.push_back(last->value(place));
    after = fmt::format(" WHERE ({}) > ({})", key, parameters(values.size()));
  }
  return from.rows(
      fmt::format("SELECT * FROM {}{} ORDER BY {} LIMIT {}", table.table, after, key, kRowsAtOnce),
      std::span(values));
}

Result<int64_t> copy_table(Transaction& from, Transaction& to, const TableKey& table,
                           Progress& progress) {
  int64_t copied = 0;
  std::vector<Row> rows;
  do {
    EXA_TRY(progress.step("rows", copied, 0));
    const std::optional<Row> last = rows.empty() ? std::nullopt : std::optional(rows.back());
    EXA_ASSIGN(rows, next_rows(from, table, last ? &*last : nullptr));
    for (const Row& row : rows) {
      std::vector<Value> values;
      for (size_t i = 0; i < row.size(); ++i) values.push_back(row.value(i));
      EXA_TRY(to.change(
          fmt::format("INSERT INTO {} VALUES ({})", table.table, parameters(values.size())),
          std::span(std::as_const(values))));
    }
    copied += static_cast<int64_t>(rows.size());
  } while (static_cast<int64_t>(rows.size()) == kRowsAtOnce);
  EXA_ASSIGN(const auto counted, to.rows(fmt::format("SELECT COUNT(*) FROM {}", table.table)));
  if (counted.at(0).integer(0) == copied) return copied;
  return fail(Code::unexpected, fmt::format("{} of {} rows of {} arrived", counted.at(0).integer(0),
                                            copied, table.table));
}

// Every change that ever was is an entry: without one there are only the rows that the migrations
// made, and those come again with the copy.
Result<void> make_empty(Transaction& to, const std::vector<TableKey>& tables,
                        const std::string& where) {
  EXA_ASSIGN(const auto entries, to.rows("SELECT COUNT(*) FROM audit_entry"));
  if (entries.at(0).integer(0) > 0) {
    return fail(Code::conflict,
                fmt::format("{} is not empty: its audit log has {} entries", where,
                            entries.at(0).integer(0)),
                "name a new folder or database as the destination");
  }
  for (auto table = tables.rbegin(); table != tables.rend(); ++table)
    EXA_TRY(to.change(fmt::format("DELETE FROM {}", table->table)));
  return {};
}

Result<json::array> copy_tables(Transaction& from, Transaction& to, const std::string& where,
                                Progress& progress) {
  const std::vector<TableKey> tables = tables_of(migrations());
  EXA_TRY(make_empty(to, tables, where));
  json::array copied;
  for (const TableKey& table : tables) {
    EXA_ASSIGN(const int64_t rows, copy_table(from, to, table, progress));
    copied.emplace_back(json::object{{"table", table.table}, {"rows", rows}});
  }
  return copied;
}

// The key and its checkpoint are what the log's truth rests on: never over those of another log.
class Files {
 public:
  enum class There { refused, of_the_same_log };  // files at the destination

  Files(const fs::path& from, const fs::path& to, There there = There::refused)
      : from_(from), to_(to), there_(there) {
    std::error_code unknown;
    same_ = fs::weakly_canonical(from, unknown) == fs::weakly_canonical(to, unknown);
  }
  ~Files() {
    std::error_code ignored;
    for (const fs::path& file : made_) fs::remove(file, ignored);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  Result<void> copy() {
    if (same_ || !made_.empty()) return {};  // also when the copy is run again
    const auto key = load_key_file(from_ / kAuditKeyFile);
    if (!key) return key.error().code == Code::not_found ? Result<void>() : fail(key.error());
    std::error_code error;
    if (there_ == There::of_the_same_log) {
      EXA_ASSIGN(const bool kept, same_log_is_there(*key));
      if (kept) return {};
    }
    EXA_TRY(make_private_folder(to_));
    for (const std::string_view name : {kAuditKeyFile, kAuditPublicKeyFile, kAuditCheckpointFile}) {
      if (!fs::exists(to_ / name, error)) continue;
      return fail(Code::conflict,
                  fmt::format("{} is there already: the folder belongs to another log",
                              (to_ / name).string()),
                  "name another folder with --data");
    }
    EXA_ASSIGN(const std::string checkpoint, read_checkpoint_file(from_ / kAuditCheckpointFile));
    made_ = {to_ / kAuditKeyFile, to_ / kAuditPublicKeyFile, to_ / kAuditCheckpointFile};
    EXA_TRY(create_key_file(to_ / kAuditKeyFile, *key));
    EXA_TRY(write_public_key_file(to_ / kAuditPublicKeyFile, key->public_key()));
    return write_checkpoint_file(to_ / kAuditCheckpointFile, checkpoint);
  }
  void keep() { made_.clear(); }

 private:
  Result<bool> same_log_is_there(const SigningKey& key) const {
    const auto other = load_key_file(to_ / kAuditKeyFile);
    if (!other)
      return other.error().code == Code::not_found ? Result<bool>(false) : fail(other.error());
    if (other->public_key() == key.public_key()) return true;
    return fail(Code::conflict, fmt::format("{} is the key of {}, but the backup is of {}",
                                            (to_ / kAuditKeyFile).string(),
                                            other->public_key().name, key.public_key().name));
  }

  fs::path from_;
  fs::path to_;
  There there_;
  bool same_ = false;
  std::vector<fs::path> made_;
};

// What was copied, table by table.
Result<json::array> copy_all(const Installation& from, const Installation& to, const Clock& clock,
                             Files::There there, Progress& progress) {
  EXA_TRY(verify(from, clock, "source", progress));
  json::array copied;
  Files files(from.files, to.files, there);
  bool written = false;
  // A rehearsal is a write that keeps nothing: nobody else changes the source meanwhile, nor its
  // checkpoint.
  EXA_TRY(from.store.rehearse([&](Transaction& source) -> Result<void> {
    if (written) return {};
    EXA_TRY(files.copy());
    EXA_TRY(to.store.write([&](Transaction& target) -> Result<void> {
      EXA_ASSIGN(copied, copy_tables(source, target, to.store.describe(), progress));
      return {};
    }));
    written = true;
    files.keep();
    return {};
  }));
  return copied;
}

Result<Answer> copy_into(Service& service, const std::string& folder, Progress& progress) {
  EXA_ASSIGN(const auto store, open_sqlite({.folder = folder}));
  return copy_installation({service.store(), service.trail().folder()}, {*store, folder},
                           service.around().clock, progress);
}

}  // namespace

Result<Answer> copy_installation(const Installation& from, const Installation& to,
                                 const Clock& clock, Progress& progress) {
  EXA_ASSIGN(json::array copied, copy_all(from, to, clock, Files::There::refused, progress));
  EXA_TRY(verify(to, clock, "copy", progress));
  Answer answer;
  answer.body = {{"from", from.store.describe()},
                 {"to", to.store.describe()},
                 {"verified", true},
                 {"items", std::move(copied)},
                 {"next_cursor", nullptr}};
  return answer;
}

Result<Answer> back_up(Service& service, const Caller& caller, const std::string& folder) {
  EXA_ASSIGN(auto before, service.repeated(caller));
  if (before) return *std::move(before);
  std::error_code unknown;
  const bool there = fs::exists(folder, unknown);
  if (there && !fs::is_empty(folder, unknown)) {
    return fail(invalid("backup", {{"/folder", "is not empty; name a new one", ""}}));
  }
  Answer answer;
  answer.status = 201;
  answer.body = {{"folder", folder}, {"verified", false}, {"items", json::array()}};
  if (caller.dry_run) return answer;
  // Under another name until it is whole: half of a backup is none, even where the process died.
  const std::string name = (fs::path(folder) / "").parent_path().string();
  const fs::path partial = fmt::format("{}.partial-{}", name, service.around().new_id());
  Result<Answer> copied = copy_into(service, partial.string(), *caller.progress);
  std::error_code error;
  if (copied) fs::rename(partial, name, error);
  if (!copied || error) {
    fs::remove_all(partial, unknown);
    if (!copied) return copied;
    return fail(Code::invalid_input, fmt::format("{} cannot be made: {}", folder, error.message()));
  }
  answer.body["verified"] = true;
  answer.body["items"] = copied->body.at("items");
  answer.notices.emplace_back(
      "it holds the key of the audit log: keep it where others cannot read");
  // what was copied goes nowhere but there; that it was is on record here
  return service.mutate(caller, [&](Transaction&, Deed& deed) -> Result<Answer> {
    deed.object_kind = "backup";
    deed.object_name = folder;
    return answer;
  });
}

Result<Answer> restore_installation(const Installation& backup, const Installation& to,
                                    const Clock& clock) {
  EXA_ASSIGN(json::array copied,
             copy_all(backup, to, clock, Files::There::of_the_same_log, unwatched()));
  const Result<void> verified = verify(to, clock, "restored copy", unwatched());
  if (!verified && verified.error().code != Code::audit_broken) return fail(verified.error());
  Answer answer;
  answer.body = {{"from", backup.store.describe()},
                 {"to", to.store.describe()},
                 {"needs_recovery", !verified.has_value()},
                 {"items", std::move(copied)},
                 {"next_cursor", nullptr}};
  if (!verified) {
    answer.exit_code = info(Code::audit_broken).exit_code;
    answer.notices.push_back(verified.error().message);
    answer.notices.emplace_back(
        "entries were written after this backup was made; nothing can be changed before that is "
        "put "
        "on record: exa audit recover --reason \"…\"");
  }
  return answer;
}

}  // namespace exa
