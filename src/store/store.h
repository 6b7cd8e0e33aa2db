// The narrow interface that every backend keeps: transactions over one SQL subset. Queries are
// written once, with $1, $2, … parameters and the column types BIGINT, TEXT and BYTEA, and run on
// every backend as they stand.
//
// A write is one transaction: committed and on disk when the call returns a value, rolled back
// without a trace when it returns an error or the process dies. Writes that wait at the same time
// share one commit; one of them that fails is undone alone.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace exa {

struct Bytes {
  std::string data;
  bool operator==(const Bytes&) const = default;
};

using Value = std::variant<std::nullptr_t, int64_t, std::string, Bytes>;

// One row of an answer. Asking a column for another type than it has is a mistake of the caller
// (asserted), except that text_or_empty reads NULL as "".
class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}
  size_t size() const { return values_.size(); }
  const Value& value(size_t column) const { return values_.at(column); }
  bool is_null(size_t column) const;
  int64_t integer(size_t column) const;
  const std::string& text(size_t column) const;
  std::string text_or_empty(size_t column) const;
  const std::string& bytes(size_t column) const;

 private:
  std::vector<Value> values_;
};

// Text that every backend keeps: without a NUL character. invalid_input.
Result<void> check_text(std::string_view text);

// After a statement that failed, the work returns: some backends refuse all that follows, others do
// not. To go on all the same, set a SAVEPOINT before and return to it.
class Transaction {
 public:
  virtual ~Transaction() = default;
  virtual Result<std::vector<Row>> rows(std::string_view sql, std::span<const Value> values) = 0;
  virtual Result<int64_t> change(std::string_view sql,
                                 std::span<const Value> values) = 0;  // rows changed

  Result<std::vector<Row>> rows(std::string_view sql, std::initializer_list<Value> values = {}) {
    return rows(sql, std::span(values.begin(), values.size()));
  }
  Result<int64_t> change(std::string_view sql, std::initializer_list<Value> values = {}) {
    return change(sql, std::span(values.begin(), values.size()));
  }
};

// May run more than once before it is committed (a transaction lost to another replica is run
// again), and on another thread than the caller's, who waits: it sets anew whatever it captures.
using Work = std::function<Result<void>(Transaction&)>;

// Runs after the commit of the work it came with, while this process still is the only writer; may
// read, through the transaction given, what is committed.
using Committed = std::function<void(Transaction&)>;

// Background work that one process at a time does. Given up with the object, or when the process
// ends, however it ends.
class Ownership {
 public:
  virtual ~Ownership() = default;
  // False once it was lost to a broken connection; never true again. Asked before each round of
  // the work.
  virtual bool holds() = 0;
};

// Every call is safe from any thread.
class Store {
 public:
  virtual ~Store() = default;
  virtual Result<void> read(const Work& work) = 0;  // one consistent view; changes are refused
  virtual Result<void> write(const Work& work, const Committed& committed) = 0;
  Result<void> write(const Work& work) {
    return write(work, [](Transaction&) {});
  }
  virtual Result<void> rehearse(const Work& work) = 0;  // as write, but nothing is kept (--dry-run)

  // Runs the parts one after the other on this thread; what they write meanwhile shares one commit.
  // Within a part, write() answers as soon as its work has run: it is durable, and what was to
  // follow its commit has run, only when this returns a value. With an error nothing of it is kept.
  // Like works, parts may run more than once. They read what was committed before.
  using Parts = std::span<const std::function<void()>>;
  virtual Result<void> together(Parts parts) = 0;
  // The ownership of a name ([a-z0-9-]), or null: somebody has it. Never waits.
  virtual Result<std::unique_ptr<Ownership>> try_own(const std::string& name) = 0;
  virtual std::string describe() const = 0;  // "sqlite /home/ada/.local/share/exa/exa.db"

  // Grows with every commit made through this object, before its caller has the answer. What was
  // read while the number stood still is what is stored, if nobody else can write.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  virtual bool only_writer() const { return false; }  // as long as this object lives

 protected:
  void count_change() { changes_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  std::atomic<uint64_t> changes_ = 0;
};

// Runs `work` and returns its value.
template <typename T, typename F>
Result<T> read_value(Store& store, F&& work) {
  Result<T> value = fail(Code::unexpected, "the store ran no work");
  EXA_TRY(store.read([&](Transaction& tx) -> Result<void> {
    value = work(tx);
    if (!value) return fail(value.error());
    return {};
  }));
  return value;
}

template <typename T, typename F>
Result<T> write_value(Store& store, F&& work) {
  Result<T> value = fail(Code::unexpected, "the store ran no work");
  EXA_TRY(store.write([&](Transaction& tx) -> Result<void> {
    value = work(tx);
    if (!value) return fail(value.error());
    return {};
  }));
  return value;
}

// The numbered schema changes, in order; each is applied in one transaction with its number.
struct Migration {
  int number;
  std::string_view name;
  std::string_view sql;
};
std::span<const Migration> migrations();

}  // namespace exa
