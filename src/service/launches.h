// What was launched, as it is kept: the spec with the shape that it got, where it runs and how it
// stands. Requirement Phases 2 and 3; semantics §8. The rows; what changes them is launch.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/launch_json.h"
#include "launch/observed.h"
#include "service/pages.h"
#include "service/service.h"

namespace exa {

enum class LaunchState {
  submitting,  // kept, and perhaps submitted: nobody has heard
  pending,     // the scheduler has it
  running,
  succeeded,
  failed,
  cancelled,
  stopped,  // on request, to be started again
};
std::string_view name(LaunchState state);
std::optional<LaunchState> find_launch_state(std::string_view name);
// Whether it may run or come to run, so that it holds devices and its target is asked.
bool is_open(LaunchState state);

struct Launch {
  LaunchSpec spec;                     // kind, project and name are those of the launch
  Shape shape;                         // as it got it
  std::string hardware_profile;        // NAME@V, or PROJECT/NAME@V of a shared one; empty: none
  std::vector<std::string> overrides;  // fields of the shape that were given over the profile's
  std::string cluster;                 // empty: the machine of exa itself
  std::string backend;                 // "local", "compose", "slurm", "flux", "kubernetes"
  json::object resolution;             // of the shape on the cluster, when it was launched
  json::object details;                // what it is, for people: model, dataset, strategy
  std::string lease;                   // ids; empty: none
  std::string decision;
  LaunchState state = LaunchState::submitting;
  bool ending = false;  // somebody asked for its end
  std::string reason;   // of the state, in the scheduler's words
  std::string job;      // the scheduler's id
  std::vector<std::string> nodes;
  std::optional<int64_t> exit_code;
  Time created_at;
  std::string created_by;
  std::optional<Time> submitted_at;
  std::optional<Time> started_at;
  std::optional<Time> ended_at;
  std::string request_digest;  // of the request that is being submitted

  std::string key() const;  // "PROJECT/KIND/NAME"
};

// What people and programs are shown. The only serializer of it.
json::object to_json(const Launch& launch);
// What the store keeps and the audit log digests.
json::object to_stored_json(const Launch& launch);
Result<Launch> launch_from_json(const json::object& stored);

// How it stands after what was seen of it at `now`; nullopt of `seen`: the scheduler knows of none.
// Pure.
Launch after(Launch launch, const std::optional<Observed>& seen, Time now);

Result<std::optional<Launch>> load_launch(Transaction& tx, const std::string& project, Surface kind,
                                          const std::string& name);
// not_found names close spellings.
Result<Launch> find_launch(Transaction& tx, const std::string& project, Surface kind,
                           const std::string& name);
Result<std::vector<Launch>> open_launches(Transaction& tx);
Result<void> put_launch(Transaction& tx, const Launch& launch);
Result<void> drop_launch(Transaction& tx, const Launch& launch);

Result<Answer> list_launches(Service& service, const Page& page, Surface kind);

}  // namespace exa
