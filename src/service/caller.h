// Who asks, from where, for what: goes with every use case and into the audit log.
#pragma once

#include <string>

namespace exa {

// On a local data folder: the operating-system user, who owns it.
struct Principal {
  std::string kind;  // "os-user", "user", "service-account"
  std::string name;
  std::string id;  // uid or user id
};

struct Caller {
  Principal principal;
  std::string origin;  // host and process, or address
  std::string request_id;
  std::string action;           // route id: "hardware_profile.set"
  std::string idempotency_key;  // empty: none
  std::string
      request_digest;  // of method, path, query and body: the same key means the same request
  bool dry_run = false;
  bool takes_match = false;     // the route takes If-Match: the answer carries the tag of after
  std::string if_match;         // entity tags that the thing changed must have; empty: any
  bool requires_match = false;  // `if_match` must be given to change what is there
};

}  // namespace exa
