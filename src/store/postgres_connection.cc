#include "store/postgres_connection.h"

#include <cerrno>

#include <fmt/format.h>
#include <poll.h>

#include "base/quantity.h"
#include "store/postgres_error.h"

namespace exa {
namespace {

// Beyond these a connection prepares nothing more: the statements are ours, so more would be a bug
// that eats the server's memory.
constexpr size_t kMostStatements = 512;

constexpr int kText = 0;
constexpr int kBinary = 1;

// Object ids of built-in types never change (pg_type.dat).
enum : Oid {
  kBool = 16,
  kBytea = 17,
  kName = 19,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kTextType = 25,
  kUnknown = 705,
  kVarchar = 1043,
  kVoid = 2278,
};

int64_t millis(Duration duration) {
  return std::max<int64_t>(1, duration.micros / 1000);
}

// What one statement is sent with. Integers and text go as text, which the server reads as what
// the column needs; bytes go as they are.
class Parameters {
 public:
  static Result<Parameters> of(std::span<const Value> values) {
    Parameters parameters;
    parameters.numbers_.reserve(values.size());  // pointers into them must stay
    for (size_t i = 0; i < values.size(); ++i) {
      if (const auto* number = std::get_if<int64_t>(&values[i])) {
        const std::string& text = parameters.numbers_.emplace_back(std::to_string(*number));
        parameters.add(text.c_str(), text.size(), kText);
      } else if (const auto* text = std::get_if<std::string>(&values[i])) {
        EXA_TRY(check_text(*text));
        parameters.add(text->c_str(), text->size(), kText);
      } else if (const auto* bytes = std::get_if<Bytes>(&values[i])) {
        parameters.add(bytes->data.data(), bytes->data.size(), kBinary);
      } else {
        parameters.add(nullptr, 0, kText);
      }
    }
    return parameters;
  }

  int count() const { return static_cast<int>(data_.size()); }
  const char* const* data() const { return data_.data(); }
  const int* lengths() const { return lengths_.data(); }
  const int* formats() const { return formats_.data(); }

 private:
  void add(const char* data, size_t length, int format) {
    data_.push_back(data);
    lengths_.push_back(static_cast<int>(length));
    formats_.push_back(format);
  }

  std::vector<std::string> numbers_;
  std::vector<const char*> data_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

int64_t big_endian(std::string_view bytes) {
  uint64_t number = !bytes.empty() && (bytes[0] & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return static_cast<int64_t>(number);
}

Result<Value> value_of(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column) != 0) return Value(nullptr);
  const std::string_view bytes(PQgetvalue(result, row, column),
                               static_cast<size_t>(PQgetlength(result, row, column)));
  switch (const Oid type = PQftype(result, column)) {
    case kBool:
    case kInt2:
    case kInt4:
    case kInt8:
      return Value(big_endian(bytes));
    case kTextType:
    case kVarchar:
    case kName:
    case kUnknown:
      return Value(std::string(bytes));
    case kBytea:
      return Value(Bytes{std::string(bytes)});
    case kVoid:
      return Value(nullptr);
    default:
      return fail(Code::unexpected,
                  fmt::format("the column {} has the type {}, which exa does not read",
                              PQfname(result, column), type));
  }
}

void stay_silent(void*, const PGresult*) {}

std::string option(const PQconninfoOption* options, std::string_view keyword) {
  for (const PQconninfoOption* at = options; at->keyword != nullptr; ++at)
    if (at->keyword == keyword && at->val != nullptr) return at->val;
  return {};
}

}  // namespace

Result<PostgresAddress> PostgresAddress::parse(const std::string& url) {
  char* said = nullptr;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
      PQconninfoParse(url.c_str(), &said), PQconninfoFree);
  const std::unique_ptr<char, void (*)(void*)> owner(said, PQfreemem);
  if (!options) {
    // libpq's own words may quote the URL, and with it a password
    return fail(Code::invalid_input,
                "the PostgreSQL URL cannot be read; it looks like "
                "postgresql://USER@HOST:PORT/DATABASE, with %XX for special characters");
  }
  PostgresAddress address;
  address.url_ = url;
  address.has_password_ = !option(options.get(), "password").empty();
  const auto with = [&](std::string_view before, std::string_view keyword) {
    const std::string value = option(options.get(), keyword);
    return value.empty() ? value : fmt::format("{}{}", before, value);
  };
  const std::string user = option(options.get(), "user");
  address.shown_ = fmt::format("postgresql://{}{}{}{}", user.empty() ? user : user + "@",
                               with("", "host"), with(":", "port"), with("/", "dbname"));
  if (const std::string service = option(options.get(), "service"); !service.empty())
    address.shown_ += fmt::format("?service={}", service);
  return address;
}

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(
    const PostgresAddress& address, const PostgresOptions& options) {
  // A name that stands twice counts with its later value, so the URL has the last word.
  const std::string timeout =
      std::to_string(std::max<int64_t>(2, (options.connect.micros + 999'999) / 1'000'000));
  const std::array<const char*, 9> keywords = {
      "application_name", "connect_timeout",     "tcp_user_timeout",
      "keepalives_idle",  "keepalives_interval", "keepalives_count",
      "dbname",           "client_encoding",     nullptr};
  const std::array<const char*, 9> values = {"exa", timeout.c_str(),       "20000", "10",   "5",
                                             "3",   address.url().c_str(), "UTF8",  nullptr};
  Handle handle(PQconnectdbParams(keywords.data(), values.data(), 1));
  if (PQstatus(handle.get()) != CONNECTION_OK)
    return fail(error_from(handle.get(), fmt::format("cannot connect to {}", address.shown())));
  PQsetNoticeReceiver(handle.get(), stay_silent, nullptr);
  PQsetnonblocking(handle.get(), 1);
  // the server gives up first, and says why; this end gives up on a server that says nothing
  const Duration longest{std::max(options.statement.micros, options.lock_wait.micros) +
                         seconds(5).micros};
  std::unique_ptr<PostgresConnection> connection(
      new PostgresConnection(std::move(handle), longest));
  EXA_TRY(connection->set_up(options));
  return connection;
}

Result<void> PostgresConnection::set_up(const PostgresOptions& options) {
  const int64_t statement = std::max(millis(options.statement), millis(options.lock_wait) + 1000);
  EXA_TRY(execute(
      fmt::format("SET statement_timeout = {}; SET lock_timeout = {}; "
                  "SET idle_in_transaction_session_timeout = {}; SET idle_session_timeout = 0; "
                  "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET "
                  "tcp_keepalives_count = 3; "
                  "SET default_transaction_isolation = 'read committed'; "
                  "SELECT set_config('synchronous_commit', 'on', false) "
                  "WHERE current_setting('synchronous_commit') = 'off'",
                  statement, millis(options.lock_wait), millis(options.stall))));
  EXA_ASSIGN(const auto found, rows("SELECT current_setting('server_encoding'), current_schema(), "
                                    "hashtextextended('exa writer ' || current_schema(), 0)"));
  const Row& row = found.at(0);
  if (row.text(0) != "UTF8") {
    return fail(Code::invalid_input,
                fmt::format("the database keeps its text as {}; it must be UTF8", row.text(0)),
                "createdb --encoding=UTF8 --template=template0 NAME");
  }
  if (row.is_null(1)) {
    return fail(Code::invalid_input,
                "no schema of the search path exists in the database, so there is no place for "
                "tables",
                "create the schema, or name another one: ?options=-csearch_path%3DNAME");
  }
  writer_lock_ = row.integer(2);
  return {};
}

Result<int64_t> PostgresConnection::key_of(const std::string& name) {
  EXA_ASSIGN(
      const auto found,
      rows("SELECT hashtextextended('exa owner ' || current_schema() || ' ' || $1, 0)", {name}));
  return found.at(0).integer(0);
}

Result<std::vector<Row>> PostgresConnection::rows(std::string_view sql,
                                                  std::span<const Value> values) {
  EXA_ASSIGN(const PostgresResult result, run(sql, values));
  std::vector<Row> answer;
  const int count = PQntuples(result.get());
  const int columns = PQnfields(result.get());
  answer.reserve(static_cast<size_t>(count));
  for (int row = 0; row < count; ++row) {
    std::vector<Value> of_row;
    of_row.reserve(static_cast<size_t>(columns));
    for (int column = 0; column < columns; ++column) {
      EXA_ASSIGN(Value value, value_of(result.get(), row, column));
      of_row.push_back(std::move(value));
    }
    answer.emplace_back(std::move(of_row));
  }
  return answer;
}

Result<int64_t> PostgresConnection::change(std::string_view sql, std::span<const Value> values) {
  EXA_ASSIGN(const PostgresResult result, run(sql, values));
  const std::string_view changed = PQcmdTuples(result.get());
  return changed.empty() ? 0 : parse_count(changed, "rows changed").value_or(0);
}

Result<void> PostgresConnection::execute(const std::string& sql) {
  EXA_TRY(answer(!broken_ && PQsendQuery(handle_.get(), sql.c_str()) == 1, "the database refused"));
  return {};
}

Result<void> PostgresConnection::commit() {
  if (broken_ || has_ended()) return fail(broke("before the change was to be stored"));
  const auto done = answer(PQsendQuery(handle_.get(), "COMMIT") == 1, "the change was not stored");
  if (!done && broken_) {
    return fail(Error{Code::outcome_unknown,
                      fmt::format("the database did not say whether it stored the change: {}",
                                  done.error().message),
                      {},
                      "exa audit list",
                      {}});
  }
  if (!done) return fail(done.error());
  // a transaction in which a statement failed ends in a ROLLBACK that calls itself a success
  if (std::string_view(PQcmdStatus(done->get())) != "COMMIT") {
    return fail(Code::unexpected,
                "the change was not stored: a statement of it failed and was passed over");
  }
  return {};
}

// Whether the server closed the connection while nothing was asked of it: its last words and the
// end lie there unread. What has ended before COMMIT was sent is merely lost.
bool PostgresConnection::has_ended() {
  constexpr int kMostReads = 4;
  for (int i = 0; i < kMostReads; ++i) {
    pollfd socket{PQsocket(handle_.get()), POLLIN, 0};
    if (::poll(&socket, 1, 0) <= 0) return false;
    if (PQconsumeInput(handle_.get()) == 0) return true;
  }
  return false;
}

void PostgresConnection::roll_back() {
  if (broken_ || PQtransactionStatus(handle_.get()) == PQTRANS_IDLE) return;
  static_cast<void>(execute("ROLLBACK"));
}

bool PostgresConnection::idle() const {
  return !broken_ && !outdated_ && PQtransactionStatus(handle_.get()) == PQTRANS_IDLE;
}

Result<PostgresResult> PostgresConnection::run(std::string_view sql,
                                               std::span<const Value> values) {
  EXA_ASSIGN(const Parameters parameters, Parameters::of(values));
  EXA_ASSIGN(const std::string name, prepared(sql));
  return answer(!broken_ && PQsendQueryPrepared(handle_.get(), name.c_str(), parameters.count(),
                                                parameters.data(), parameters.lengths(),
                                                parameters.formats(), kBinary) == 1,
                "the database refused a statement");
}

// The name of the statement, prepared once. The server finds the parameters' types by where they
// stand.
Result<std::string> PostgresConnection::prepared(std::string_view sql) {
  const std::string text(sql);
  const auto known = statements_.find(text);
  if (known != statements_.end()) return known->second;
  const bool keep = statements_.size() < kMostStatements;
  const std::string name = keep ? fmt::format("exa{}", statements_.size()) : std::string();
  EXA_TRY(
      answer(!broken_ && PQsendPrepare(handle_.get(), name.c_str(), text.c_str(), 0, nullptr) == 1,
             "the database did not accept a statement"));
  if (keep) statements_.emplace(text, name);
  return name;
}

// The answer to what was sent: the first error of it, or its last result.
Result<PostgresResult> PostgresConnection::answer(bool sent, std::string_view doing) {
  if (!sent) return fail(broke("while something was asked of it"));
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(longest_.micros);
  PostgresResult last;
  std::optional<Error> error;
  while (true) {
    EXA_TRY(wait(until));
    PostgresResult result(PQgetResult(handle_.get()));
    if (!result) break;
    const ExecStatusType status = PQresultStatus(result.get());
    const bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!good && !error) error = noted(result.get(), doing);
    last = std::move(result);
  }
  if (PQstatus(handle_.get()) != CONNECTION_OK) broken_ = true;
  if (error) return fail(*std::move(error));
  if (!last || broken_) return fail(broke("instead of answering"));
  return last;
}

Error PostgresConnection::noted(const PGresult* result, std::string_view doing) {
  const std::string state = sqlstate_of(result);
  lost_ = lost_ || is_serialization_failure(state);
  // "cached plan must not change result type", or the statement is gone
  outdated_ = outdated_ || state == "0A000" || state == "26000";
  const char* severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  const bool last_words = severity == nullptr || std::string_view(severity) == "FATAL" ||
                          std::string_view(severity) == "PANIC";
  broken_ = broken_ || last_words;
  return error_from(result, doing);
}

Result<void> PostgresConnection::wait(std::chrono::steady_clock::time_point until) {
  while (true) {
    const int unsent = PQflush(handle_.get());
    if (unsent < 0) return fail(broke("while something was asked of it"));
    if (unsent == 0 && PQisBusy(handle_.get()) == 0) return {};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    pollfd socket{PQsocket(handle_.get()), static_cast<short>(POLLIN | (unsent > 0 ? POLLOUT : 0)),
                  0};
    const int ready = left.count() <= 0 ? 0 : ::poll(&socket, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      broken_ = true;
      return fail(
          Code::store_unreachable,
          fmt::format("the database server has said nothing for {}", format_duration(longest_)));
    }
    if ((socket.revents & ~POLLOUT) != 0 && PQconsumeInput(handle_.get()) == 0)
      return fail(broke("instead of answering"));
  }
}

Error PostgresConnection::broke(std::string_view when) {
  broken_ = true;
  return error_from(handle_.get(), fmt::format("the connection to the database ended {}", when));
}

}  // namespace exa
