#include "store/postgres.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/quantity.h"
#include "store/group_commit.h"
#include "store/postgres_connection.h"
#include "store/postgres_schema.h"
#include "store/turns.h"

namespace exa {
namespace {

using Connection = std::unique_ptr<PostgresConnection>;
using Steady = std::chrono::steady_clock;

// Each time on a fresh connection; a server that breaks as many is not one to go on asking.
constexpr int kMostTries = 4;

class PostgresOwnership final : public Ownership {
 public:
  explicit PostgresOwnership(Connection connection) : connection_(std::move(connection)) {}
  bool holds() override {
    // the lock is the session's: it is held as long as the session answers
    const std::lock_guard lock(mutex_);
    return connection_->execute("SELECT 1").has_value();
  }

 private:
  std::mutex mutex_;
  Connection connection_;
};

class PostgresStore final : public Store, private GroupCommit::Writer {
 public:
  PostgresStore(PostgresAddress address, PostgresOptions options)
      : address_(std::move(address)), options_(std::move(options)), group_(*this) {}

  std::string describe() const override { return address_.shown(); }

  Result<void> set_up() {
    EXA_ASSIGN(Connection connection, PostgresConnection::open(address_, options_));
    EXA_ASSIGN(const int64_t present, postgres_schema(*connection, describe()));
    if (present < migrations().back().number) EXA_TRY(migrate_postgres(*connection, describe()));
    writing_ = std::move(connection);
    return {};
  }

  Result<void> read(const Work& work) override {
    const Turn turn(*this);
    EXA_TRY(turn.taken());
    for (int tries = 1;; ++tries) {
      EXA_ASSIGN(Connection connection, idle_or_new());
      bool whole = true;
      const Result<void> outcome = read_once(*connection, work, whole);
      if (whole || tries == kMostTries) {
        give_back(std::move(connection));
        return outcome;
      }
      close_idle();  // they were made before the server restarted, or before a migration
    }
  }

  Result<void> rehearse(const Work& work) override {
    if (group_.within_part()) return group_.rehearse_within(work);
    for (int tries = 1;; ++tries) {
      const std::lock_guard one(one_writer_);
      EXA_ASSIGN(Transaction * transaction, begin_alone());
      const Undo undo(*this);
      Result<void> outcome = work(*transaction);
      if (!lost() || tries == kMostTries) return outcome;
    }
  }

  using Store::write;
  Result<void> write(const Work& work, const Committed& committed) override {
    return group_.write(work, committed);
  }
  Result<void> together(Parts parts) override { return group_.together(parts); }

  Result<std::unique_ptr<Ownership>> try_own(const std::string& name) override {
    EXA_ASSIGN(Connection connection, connect(for_ownership()));
    EXA_ASSIGN(const int64_t key, connection->key_of(name));
    EXA_ASSIGN(const auto got, connection->rows("SELECT pg_try_advisory_lock($1)", {key}));
    std::unique_ptr<Ownership> ownership;
    if (got.at(0).integer(0) == 0) return ownership;
    // an owner that is stopped stays connected: it is one only as long as it asks whether it is
    EXA_TRY(connection->execute(fmt::format("SET idle_session_timeout = {}",
                                            std::max<int64_t>(1, options_.stall.micros / 1000))));
    ownership = std::make_unique<PostgresOwnership>(std::move(connection));
    return ownership;
  }

 private:
  // --- connections

  // Whoever asks whether it still owns something wants to know soon.
  PostgresOptions for_ownership() const {
    PostgresOptions options = options_;
    options.statement = options.lock_wait = seconds(2);
    return options;
  }

  Result<Connection> connect_once(const PostgresOptions& options) const {
    EXA_ASSIGN(Connection connection, PostgresConnection::open(address_, options));
    EXA_TRY(postgres_schema(*connection, describe()));
    return Result<Connection>(std::move(connection));
  }

  // The server was there once, so it is waited for.
  Result<Connection> connect() const { return connect(options_); }
  Result<Connection> connect(const PostgresOptions& options) const {
    const auto until = Steady::now() + std::chrono::microseconds(options_.reconnect.micros);
    auto pause = std::chrono::milliseconds(10);
    while (true) {
      auto connection = connect_once(options);
      if (connection || connection.error().code != Code::store_unreachable ||
          Steady::now() + pause >= until) {
        return connection;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::milliseconds(500));
    }
  }

  Result<Connection> idle_or_new() {
    {
      const std::lock_guard lock(readers_mutex_);
      if (!idle_.empty()) {
        Connection connection = std::move(idle_.back());
        idle_.pop_back();
        return Result<Connection>(std::move(connection));
      }
    }
    return connect();
  }

  void give_back(Connection connection) {
    if (!connection->idle()) return;
    const std::lock_guard lock(readers_mutex_);
    idle_.push_back(std::move(connection));
  }

  void close_idle() {
    std::vector<Connection> old;
    const std::lock_guard lock(readers_mutex_);
    old.swap(idle_);
  }

  // One of the `most_readers` places, for as long as it lives.
  class Turn {
   public:
    explicit Turn(PostgresStore& store) : store_(store) {
      std::unique_lock lock(store_.readers_mutex_);
      taken_ = store_.place_free_.wait_for(
          lock, std::chrono::microseconds(store_.options_.lock_wait.micros),
          [&] { return store_.readers_ < store_.options_.most_readers; });
      if (taken_) ++store_.readers_;
    }
    ~Turn() {
      if (!taken_) return;
      {
        const std::lock_guard lock(store_.readers_mutex_);
        --store_.readers_;
      }
      store_.place_free_.notify_one();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    Result<void> taken() const {
      if (taken_) return {};
      return fail(Code::store_locked,
                  fmt::format("all {} connections to {} have been reading for more than {}",
                              store_.options_.most_readers, store_.describe(),
                              format_duration(store_.options_.lock_wait)));
    }

   private:
    PostgresStore& store_;
    bool taken_ = false;
  };

  // `whole`: the answer is one, whether good or bad; else the connection was of no use.
  static Result<void> read_once(PostgresConnection& connection, const Work& work, bool& whole) {
    const auto usable = [&] {
      return !connection.broken() && !connection.outdated() && !connection.lost();
    };
    connection.forget_loss();
    const auto begun = connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    if (!begun) {
      whole = usable();
      return begun;
    }
    Result<void> outcome = work(connection);
    whole = usable();
    connection.roll_back();
    return outcome;
  }

  // --- the writer's side

  Result<Transaction*> begin() override {
    one_writer_.lock();
    auto transaction = begin_alone();
    if (!transaction) one_writer_.unlock();
    return transaction;
  }

  Result<Transaction*> begin_alone() {
    Result<void> begun;
    for (int tries = 1; tries <= kMostTries; ++tries) {
      if (!writing_ || !writing_->idle()) {
        EXA_ASSIGN(writing_, connect());
      }
      writing_->forget_loss();
      // In one round trip. Outside a transaction (while `Committed` runs) only the second timeout
      // sees to a writer that stopped with the lock.
      begun = writing_->execute(
          fmt::format("SET idle_session_timeout = {}; SELECT pg_advisory_lock({}); BEGIN",
                      std::max<int64_t>(1, options_.stall.micros / 1000), writing_->writer_lock()));
      if (begun) return writing_.get();
      if (!writing_->broken()) break;
    }
    if (begun.error().code == Code::store_locked) {
      begun.error().message = fmt::format("another exa has been writing to {} for more than {}",
                                          describe(), format_duration(options_.lock_wait));
    }
    return fail(begun.error());
  }

  Result<void> commit() override {
    auto done = writing_->commit();
    if (!done) unknown_ = done.error().code == Code::outcome_unknown;
    return done;
  }

  void roll_back() override { writing_->roll_back(); }

  void finish(bool committed) override {
    if (committed) count_change();
    release();
    one_writer_.unlock();
  }

  // A connection that cannot give up the lock is closed, which does.
  void release() {
    unknown_ = false;
    const auto released = writing_->execute(fmt::format(
        "SELECT pg_advisory_unlock({}); SET idle_session_timeout = 0", writing_->writer_lock()));
    if (!released || !writing_->idle()) writing_.reset();
  }

  // Ends a rehearsal, also one whose work throws.
  class Undo {
   public:
    explicit Undo(PostgresStore& store) : store_(store) {}
    ~Undo() {
      store_.roll_back();
      store_.release();
    }
    Undo(const Undo&) = delete;
    Undo& operator=(const Undo&) = delete;

   private:
    PostgresStore& store_;
  };

  // Also where the connection ended before COMMIT was sent: the server kept nothing.
  bool lost() const override {
    return !unknown_ && (writing_->lost() || writing_->broken() || writing_->outdated());
  }

  const PostgresAddress address_;
  const PostgresOptions options_;
  GroupCommit group_;

  std::mutex readers_mutex_;
  std::condition_variable place_free_;
  size_t readers_ = 0;
  std::vector<Connection> idle_;

  // Of the one write that goes on in this process: from begin to finish, on one thread.
  Turns one_writer_;
  Connection writing_;
  bool unknown_ = false;  // COMMIT was sent and not answered
};

}  // namespace

bool names_postgres(std::string_view store) {
  return store.starts_with("postgresql://") || store.starts_with("postgres://");
}

bool holds_password(const std::string& url) {
  const auto address = PostgresAddress::parse(url);
  return address && address->has_password();
}

Result<std::unique_ptr<Store>> open_postgres(PostgresOptions options) {
  EXA_ASSIGN(PostgresAddress address, PostgresAddress::parse(options.url));
  auto store = std::make_unique<PostgresStore>(std::move(address), std::move(options));
  EXA_TRY(store->set_up());
  return Result<std::unique_ptr<Store>>(std::move(store));
}

}  // namespace exa
