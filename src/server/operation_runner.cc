#include "server/operation_runner.h"

#include <chrono>

#include <fmt/format.h>

#include "base/text.h"
#include "service/operations.h"

namespace exa {
namespace {

constexpr auto kNoteEvery = std::chrono::seconds(1);

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

Result<Reply> OperationRunner::take(const Request& request, const Call& call) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMostWaiting) {
      return fail(Code::too_many_requests,
                  fmt::format("{} pieces of long work wait already", waiting_.size()),
                  "exa operation list");
    }
    if (stopping_) return fail(Code::unreachable, "the server stops");
  }
  const bool reads = call.route->tier == Tier::read_only;
  Result<BegunOperation> kept = begin_operation(service_, call.caller,
                                                {.route = std::string(call.route->id),
                                                 .target = request.path,
                                                 .changes = !reads && !call.caller.dry_run,
                                                 .worker = worker_});
  // what only reads is not refused because nothing can be written down: its caller waits for it
  if (!kept && reads) return call.route->handler(service_, call);
  EXA_ASSIGN(const BegunOperation begun, std::move(kept));
  if (begun.fresh) {
    const std::lock_guard lock(mutex_);
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
    const auto live = service_.live_operations().find(piece.id);
    if (live == nullptr) continue;
    piece.request.progress = live.get();
    Reply reply;
    if (const auto begun = live->step("", 0, 0); !begun) {
      reply = reply_of(begun.error(), piece.request.request_id);
    } else {
      // Written down or not, it is done; the end is what its caller waits for.
      static_cast<void>(operation_runs(service_, piece.id));
      reply = router_.handle(piece.request);
    }
    finish(piece, reply);
  }
}

void OperationRunner::finish(const Piece& piece, const Reply& reply) {
  bool stopping = false;
  {
    const std::lock_guard lock(mutex_);
    stopping = stopping_;
  }
  const OperationEnd end{state_of(reply, stopping), reply.status, reply.exit_code, reply.notices,
                         reply.body};
  // A store that cannot be written now may be again: an answer that is not kept is lost to whoever
  // waits for it.
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    if (end_operation(service_, piece.id, end)) return;
    std::this_thread::sleep_for(kNoteEvery);
  }
}

void OperationRunner::keep_noting() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, kNoteEvery);
    if (stopping_) return;
    lock.unlock();
    // whatever fails, the next second tries again
    static_cast<void>(note_progress(service_));
    if (!owned_->holds())  // the connection that it rested on broke
      if (auto owned = service_.store().try_own(worker_); owned && *owned)
        owned_ = *std::move(owned);
    lock.lock();
  }
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
