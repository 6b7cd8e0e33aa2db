// ML platforms: machines chosen for them, held by them and given back (requirement "Compute
// Profile", "Minimum Worker Nodes"; semantics §6).
#pragma once

#include "service/computes.h"

namespace exa {

struct PlatformAsk {
  std::string project;
  std::string name;
  MlPlatformSpec spec;
  json::object document;  // the MLPlatform manifest that says so
};

// The choice and everything that led to it, explained for every machine. Exit code 6 when it cannot
// be met, 7 when a limit forbids it; takes nothing.
Result<Answer> plan_platform(Service& service, const Caller& caller, const PlatformAsk& ask);
// Holds the machines; all or nothing. conflict where the name is taken.
Result<Answer> create_platform(Service& service, const Caller& caller, const PlatformAsk& ask);
// Another ask for a platform that is there: it keeps the machines that it has and still needs.
Result<Answer> scale_platform(Service& service, const Caller& caller, const PlatformAsk& ask);
// Gives its machines back. Refused (in_use) while it is built and `abandon` is not said.
Result<Answer> release_platform(Service& service, const Caller& caller, const std::string& project,
                                const std::string& name, bool abandon, const std::string& reason);

// Within a transaction that also writes other things: creates or scales.
Result<ManifestChange> write_platform(Service& service, Transaction& tx, const Caller& caller,
                                      Deed& deed, const PlatformAsk& ask, json::object& shown);

Result<Answer> list_platforms(Service& service, const std::string& project);
Result<Answer> show_platform(Service& service, const std::string& project, const std::string& name);

// The MLPlatform document for an ask of the command line.
json::object platform_document(const std::string& project, const std::string& name,
                               const MlPlatformSpec& spec);

}  // namespace exa
