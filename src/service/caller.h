// Who asks, from where, for what: goes with every use case and into the audit log.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/progress.h"
#include "base/time.h"
#include "govern/roles.h"

namespace exa {

// On a local data folder: the operating-system user, who owns it.
struct Principal {
  std::string kind;  // "os-user", "user", "service-account"; empty: not signed in
  std::string name;
  std::string id;                   // uid or user id
  Rights rights;                    // none unless given: default deny
  std::string token;                // id of the token that it came with; empty: none
  std::optional<Time> valid_until;  // of that token

  bool signed_in() const { return !kind.empty(); }
};

// Whoever owns a data folder may do everything in it (semantics §9).
inline Principal owner_of_folder(std::string name, std::string id) {
  return {"os-user", std::move(name), std::move(id), rights_of_owner(), "", {}};
}

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

  Progress* progress = &unwatched();  // of long work; outlives the call

  // Set by the router from the rights: of which projects the caller may know, and in which they may
  // do what the route asks for. Use cases put them into their queries.
  Projects known;
  Projects permitted;
};

}  // namespace exa
