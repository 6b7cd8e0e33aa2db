// Long operations: work that goes on after the caller was told so, watched and cancelled by its id
// (contract.md, "REST"; ADR 12). A record a piece of work, kept for 30 days. Whoever asked for it
// sees it, and platform admins see all.
#pragma once

#include "service/service.h"

namespace exa {

enum class OperationState {
  queued,
  running,
  done,         // its answer is a success
  failed,       // its answer is a problem document
  cancelled,    // somebody did not want it any more; it changed nothing
  interrupted,  // the server that did it ended; what it changed, if anything, the audit log says
};
std::string_view name(OperationState state);

struct NewOperation {
  std::string route;
  std::string target;    // its path, for people
  std::string action;    // that the route asks for, and where: "cluster:discover", "launch:write
                         // vision"; who may not do it sees nothing
  bool changes = false;  // two such at the same time are a conflict
  std::string worker;    // who will do it: Store::try_own tells whether they live
};

// So that nobody takes all the places.
inline constexpr int64_t kMostOperationsOfOne = 8;

struct BegunOperation {
  std::string id;
  bool fresh = false;  // false: the same request with the same idempotency key was taken before
  Answer answer;       // 202 with the operation
};

// Errors: conflict (the same change is being made, or the key was used for something else),
// too_many_requests (`full`, or this caller has kMostOperationsOfOne going on); neither for a
// request that was taken before.
Result<BegunOperation> begin_operation(Service& service, const Caller& caller,
                                       const NewOperation& what, bool full = false);

// What became of it, as the reply was that the caller would have got.
struct OperationEnd {
  OperationState state = OperationState::done;
  int status = 200;
  int exit_code = 0;
  std::vector<std::string> notices;
  std::string body;  // JSON text
};
Result<void> operation_runs(Service& service, const std::string& id);
Result<void> end_operation(Service& service, const std::string& id, const OperationEnd& end);
// Writes down how far those of this process have come, and hears of those that were cancelled at
// another.
Result<void> note_progress(Service& service);
// What is recorded as going on and whose worker does not live becomes `interrupted`.
Result<void> sweep_operations(Service& service);

// Whoever asked for it sees it, as far as they may still ask for such; platform-admins see all.
Result<Answer> list_operations(Service& service, const Caller& caller, int64_t limit,
                               const std::string& after);
Result<Answer> show_operation(Service& service, const Caller& caller, const std::string& id);
// conflict when it has ended.
Result<Answer> cancel_operation(Service& service, const Caller& caller, const std::string& id);

}  // namespace exa
