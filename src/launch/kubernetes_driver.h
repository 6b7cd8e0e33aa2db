// Launches on Kubernetes: makes what was rendered, and asks the API server for it. The edge beside
// render_kubernetes; what the functions promise is said in launch/driver.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "discover/probe.h"
#include "launch/driver.h"

namespace exa {

// One thread at a time. The rights it needs in the namespace: get, list, create and delete of pods,
// jobs, services, persistentvolumeclaims, deployments, configmaps (of launches that bring files)
// and, where KServe is to serve, inferenceservices; patch of all but pods and jobs, get of
// pods/log; list of events, for reasons that stand only there.
class KubernetesDriver final : public Driver {
 public:
  KubernetesDriver(ClusterAddress address, Progress& progress)
      : address_(std::move(address)), progress_(progress) {}

  Result<std::string> home() override;  // empty: a container has its own
  Result<Rendered> render(const LaunchSpec& spec) override;

  // "job.batch/NAME", as kubectl takes it. All is tried first without being kept, so that a refusal
  // leaves nothing behind. What stands there under the same name gives way when it is over; a
  // service that runs is changed; the volume of a workbench is taken as it is.
  //
  // Fails as kubernetes::Api does; conflict also when the name is taken by something that runs or
  // is of another project.
  Result<std::string> submit(const LaunchSpec& spec, const Rendered& rendered) override;

  // The same trial alone.
  Result<void> rehearse(const LaunchSpec& spec, const Rendered& rendered) override;

  // By the label of the launch, so `job` may be empty.
  Result<std::optional<Observed>> find(const LaunchSpec& spec, const std::string& job) override;
  // All that was made for the launch but the volume.
  Result<void> cancel(const LaunchSpec& spec, const std::string& job) override;
  Result<std::string> logs(const LaunchSpec& spec, const std::string& job,
                           int64_t tail_lines) override;

  Result<std::string> outputs(const LaunchSpec& spec, const std::string& job) override;

  // Deletes the volume of a workbench, and everything on it.
  Result<void> delete_volume(const LaunchSpec& spec);

 private:
  // Of the pod whose output is the launch's; `query` is of the API: "tailLines=10".
  Result<std::string> log_of(const LaunchSpec& spec, std::string_view query);

  ClusterAddress address_;
  Progress& progress_;
};

}  // namespace exa
