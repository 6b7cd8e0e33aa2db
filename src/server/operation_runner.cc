#include "server/operation_runner.h"

#include <chrono>

#include <fmt/format.h>

#include "base/text.h"
#include "service/operations.h"
#include "service/sign_in.h"

namespace exa {
namespace {

// With the project in which it is done, where the call tells.
std::string action_of(const Call& call) {
  std::string action(call.route->action);
  const std::string project =
      call.route->project_from == kOfObject ? "" : call.text(call.route->project_from);
  return project.empty() ? action : action + " " + project;
}

constexpr auto kNoteEvery = std::chrono::seconds(1);
// What a replica that died left going on takes its callers' places until it is marked.
constexpr auto kSweepEvery = std::chrono::minutes(1);

OperationState state_of(const Reply& reply, bool stopping) {
  if (reply.status < 400) return OperationState::done;
  if (error_of(reply).code != Code::interrupted) return OperationState::failed;
  return stopping ? OperationState::interrupted : OperationState::cancelled;
}

// One process at a time has a folder of its own; replicas tell each other apart.
std::string worker_name(Service& service) {
  return service.store().only_writer() ? "worker" : "worker-" + service.around().new_id();
}

}  // namespace

OperationRunner::OperationRunner(Service& service, Router& router)
    : service_(service), router_(router), worker_(worker_name(service)) {}

OperationRunner::~OperationRunner() {
  stop();
}

Result<void> OperationRunner::start() {
  EXA_TRY(sweep_operations(service_));  // before the name is ours: its last owner is dead
  EXA_ASSIGN(owned_, service_.store().try_own(worker_));
  if (owned_ == nullptr)
    return fail(Code::store_locked, "another server works on this data folder");
  for (size_t i = 0; i < kAtOnce; ++i) threads_.emplace_back([this] { work(); });
  threads_.emplace_back([this] { keep_noting(); });
  return {};
}

Reply OperationRunner::begin(const Request& request) {
  return router_.handle(request, [&](const Call& call) { return take(request, call); });
}

bool OperationRunner::full(const Request& request) {
  const std::lock_guard lock(mutex_);
  size_t bytes = request.body.size();
  for (const Piece& piece : waiting_) bytes += piece.request.body.size();
  return waiting_.size() >= kMostWaiting || (bytes > kMostBytes && !waiting_.empty());
}

Result<Reply> OperationRunner::take(const Request& request, const Call& call) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return fail(Code::unreachable, "the server stops");
  }
  const bool reads = call.route->tier == Tier::read_only;
  Result<BegunOperation> kept = begin_operation(service_, call.caller,
                                                {.route = std::string(call.route->id),
                                                 .target = request.path,
                                                 .action = action_of(call),
                                                 .changes = !reads && !call.caller.dry_run,
                                                 .worker = worker_},
                                                full(request));
  // what only reads is not refused because nothing can be written down: its caller waits for it
  const bool unwritten =
      !kept && kept.error().code != Code::too_many_requests && kept.error().code != Code::conflict;
  if (unwritten && reads) return call.route->handler(service_, call);
  EXA_ASSIGN(const BegunOperation begun, std::move(kept));
  if (begun.fresh) {
    const std::lock_guard lock(mutex_);
    if (stopping_)  // nobody would do it: as if it had been interrupted
      if (const auto live = service_.live_operations().find(begun.id)) live->cancel();
    waiting_.push_back({begun.id, request});
    changed_.notify_all();  // a thread that keeps the records waits there as well
  }
  Reply reply;
  reply.status = begun.answer.status;
  reply.body = to_pretty_text(begun.answer.body);
  reply.location = "/api/v1/operations/" + begun.id;
  return reply;
}

void OperationRunner::work() {
  for (;;) {
    Piece piece;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      piece = std::move(waiting_.front());
      waiting_.pop_front();
    }
    const Reply reply = reply_to(piece);
    finish(piece.id, reply);
  }
}

// As whoever asked would be answered now: what they may do is looked up again, for their token may
// have been revoked while this waited.
Reply OperationRunner::reply_to(Piece& piece) {
  const std::string request_id = piece.request.request_id;
  const auto live = service_.live_operations().find(piece.id);
  EXA_ASSERT(live != nullptr);  // until it is on record that it has ended
  if (const auto wanted = live->step("", 0, 0); !wanted)
    return reply_of(wanted.error(), request_id);
  Request request = std::move(piece.request);
  const auto principal = principal_now(service_, request.principal);
  if (!principal) return reply_of(principal.error(), request_id);
  request.principal = *principal;
  request.progress = live.get();
  // Written down or not, it is done; the end is what its caller waits for.
  static_cast<void>(operation_runs(service_, piece.id));
  return router_.handle(request);
}

void OperationRunner::finish(const std::string& id, const Reply& reply) {
  bool stopping = false;
  {
    const std::lock_guard lock(mutex_);
    stopping = stopping_;
  }
  const OperationEnd end{state_of(reply, stopping), reply.status, reply.exit_code, reply.notices,
                         reply.body};
  // A store that cannot be written now may be again: an answer that is not kept is lost to whoever
  // waits for it, and until then the work counts as going on.
  while (!end_operation(service_, id, end)) {
    std::unique_lock lock(mutex_);
    if (stopping_) return;  // the next start says that it was interrupted
    changed_.wait_for(lock, kNoteEvery, [this] { return stopping_; });
  }
}

void OperationRunner::keep_noting() {
  auto swept = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, kNoteEvery);
    if (stopping_) return;
    lock.unlock();
    if (const auto now = std::chrono::steady_clock::now(); now - swept >= kSweepEvery) {
      swept = now;
      static_cast<void>(sweep_operations(service_));
    }
    // whatever fails, the next second tries again
    static_cast<void>(note_progress(service_));
    end_unwanted();
    if (!owned_->holds())  // the connection that it rested on broke
      if (auto owned = service_.store().try_own(worker_); owned && *owned)
        owned_ = *std::move(owned);
    lock.lock();
  }
}

// Who cancelled what waits need not wait for its turn.
void OperationRunner::end_unwanted() {
  std::vector<Piece> unwanted;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](Piece& piece) {
      const auto live = service_.live_operations().find(piece.id);
      if (live != nullptr && !live->cancelled()) return false;
      if (live != nullptr) unwanted.push_back(std::move(piece));
      return true;
    });
  }
  for (Piece& piece : unwanted) finish(piece.id, reply_to(piece));
}

void OperationRunner::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  for (const auto& [id, live] : service_.live_operations().all()) live->cancel();
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace exa
