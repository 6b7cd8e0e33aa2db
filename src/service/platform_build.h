// Building an ML platform's cluster, and taking it down: its definition is written as files and a
// provisioner runs over them (semantics §6). Intent, effect and outcome are entries of their own; a
// run that failed leaves the platform `failed` with the reason, and may be repeated.
#pragma once

#include "service/ml_platforms.h"
#include "service/provisioners.h"

namespace exa {

// The files that a provisioner gets.
Result<Answer> render_platform(Service& service, const std::string& project,
                               const std::string& name);
// Runs the provisioner; again is as good as once. Exit code 1 when it failed.
Result<Answer> build_platform(Service& service, const Caller& caller, const std::string& project,
                              const std::string& name);
// Takes it down, then gives its machines back. `abandon`: gives them back as they are.
Result<Answer> delete_platform(Service& service, const Caller& caller, const std::string& project,
                               const std::string& name, bool abandon, const std::string& reason);
// What the last run printed.
Result<Answer> platform_logs(Service& service, const std::string& project, const std::string& name);

}  // namespace exa
