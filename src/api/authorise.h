// Authorisation, once for every call: from the row's action and the caller's rights, before the
// handler. Default deny. What needs the object itself (leases, decisions, tokens by id) is decided
// in its query, with what is filled into the caller here.
#pragma once

#include "api/route.h"

namespace exa {

// unauthenticated unless somebody is signed in, or the row's action asks for nobody.
Result<void> require_sign_in(const Route& route, const Principal& principal);

// Fills call.caller.known and .permitted, and refuses with not_found for a project that the caller
// may not know of (whether or not it is there), with forbidden for one that they may. The names of
// who can grant it are read from the store.
Result<void> authorise(Service& service, Call& call);

// What is wrong with a row's authorisation, in one line; empty: nothing. A program whose table has
// such a row does not start.
std::string authorisation_gap(const Route& route);

}  // namespace exa
