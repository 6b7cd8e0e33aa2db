// One session with the server: making it, sending one thing at a time, waiting with a limit. For
// postgres.cc, which decides who may use it when.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>

#include <libpq-fe.h>

#include "base/time.h"
#include "store/postgres.h"
#include "store/store.h"

namespace exa {

struct FreeResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using PostgresResult = std::unique_ptr<PGresult, FreeResult>;

// The URL with exa's settings under it, read once. Error: invalid_input.
class PostgresAddress {
 public:
  static Result<PostgresAddress> parse(const std::string& url);
  const std::string& shown() const { return shown_; }  // user@host:port/database, no password
  const std::string& url() const { return url_; }
  bool has_password() const { return has_password_; }

 private:
  std::string url_;
  std::string shown_;
  bool has_password_ = false;
};

// A connection and its transaction are one object: what a statement does to one it does to the
// other. One thread at a time.
class PostgresConnection final : public Transaction {
 public:
  // One attempt, at most `options.connect` long.
  static Result<std::unique_ptr<PostgresConnection>> open(const PostgresAddress& address,
                                                          const PostgresOptions& options);

  using Transaction::change;
  using Transaction::rows;
  Result<std::vector<Row>> rows(std::string_view sql, std::span<const Value> values) override;
  Result<int64_t> change(std::string_view sql, std::span<const Value> values) override;

  // Statements without parameters or answer, separated by semicolons, in one round trip. The first
  // error ends them.
  Result<void> execute(const std::string& sql);
  // outcome_unknown: COMMIT was sent, and the connection ended before its answer.
  Result<void> commit();
  void roll_back();  // if a transaction is open

  bool idle() const;                       // fit for the next who needs one
  bool broken() const { return broken_; }  // of no use any more
  bool lost() const { return lost_; }      // a statement lost against another transaction
  void forget_loss() { lost_ = false; }
  // A statement prepared here no longer fits the tables: another exa migrated them.
  bool outdated() const { return outdated_; }

  // Keys of this schema's advisory locks: the writers', and a name's.
  int64_t writer_lock() const { return writer_lock_; }
  Result<int64_t> key_of(const std::string& name);

 private:
  using Handle = std::unique_ptr<PGconn, CloseConnection>;
  using Statements = std::unordered_map<std::string, std::string>;  // name by text

  PostgresConnection(Handle handle, Duration longest)
      : handle_(std::move(handle)), longest_(longest) {}

  Result<void> set_up(const PostgresOptions& options);
  Result<PostgresResult> run(std::string_view sql, std::span<const Value> values);
  Result<std::string> prepared(std::string_view sql);
  Result<PostgresResult> answer(bool sent, std::string_view doing);
  bool has_ended();
  Result<void> wait(std::chrono::steady_clock::time_point until);
  Error noted(const PGresult* result, std::string_view doing);
  Error broke(std::string_view when);

  Handle handle_;
  Duration longest_;  // that an answer may take
  Statements statements_;
  int64_t writer_lock_ = 0;
  bool broken_ = false;
  bool lost_ = false;
  bool outdated_ = false;
};

}  // namespace exa
