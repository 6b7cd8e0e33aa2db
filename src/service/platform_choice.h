// Which machines an ML platform would get: what its ask comes to, and the choice among what is
// there now (semantics §6). Reads, decides, keeps nothing.
#pragma once

#include "service/ml_platforms.h"

namespace exa {

// What an ask comes to before any machine is looked at.
struct PlatformTerms {
  ComputeProfileSpec profile;
  std::string compute_profile;
  json::object profile_document;
  MinimumWorkers minimum;
  std::string provisioner;
  std::vector<std::string> sources;
  SelectionAsk ask;
};

struct PlatformDecision {
  PlatformTerms terms;
  Selection selection;
  std::vector<Problem> beyond;
};

// `before`: the platform as it is, of one that is there already.
Result<PlatformDecision> decide_platform(Service& service, Transaction& tx, const Caller& caller,
                                         const PlatformAsk& ask,
                                         const std::optional<MlPlatform>& before);

}  // namespace exa
