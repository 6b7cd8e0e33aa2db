// What an API server says of a launch, as one Observed. Pure: JSON of the object that runs and of
// its pods.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "launch/observed.h"

namespace exa::kubernetes {

// `main` is a Pod, Job, Deployment or InferenceService; `pods` are those of the launch, finished
// ones too (for a Pod: itself). Observed::job stays empty.
//
// A job of several pods is running when none of them waits; of a service, when one replica is ready
// to be asked; of an InferenceService, when KServe calls it Ready. What has been asked to go is
// cancelled.
Observed observed_of(const json::value& main, const json::array& pods);

// Whose output is the launch's: of a job the newest pod of the first node, else the newest pod that
// has started; empty when there is none.
std::string pod_with_the_log(const json::array& pods);

// Whether a Pod or Job is over and gives way to another of its name.
bool has_ended(const json::value& object);

}  // namespace exa::kubernetes
