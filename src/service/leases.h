// Leases in the store: devices that somebody holds. Semantics §5 ("Capacity is real").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "place/lease.h"
#include "service/pages.h"
#include "service/service.h"

namespace exa {

using LeasesByPool = std::map<std::string, std::vector<Lease>>;

// Those that hold at `now`, in the order they were taken.
Result<LeasesByPool> open_leases_by_pool(Transaction& tx, Time now);
Result<std::vector<Lease>> open_leases(Transaction& tx, const std::string& pool, Time now);

Result<std::vector<Lease>> open_leases_of_project(Transaction& tx, const std::string& project,
                                                  Time now);

Result<void> insert_lease(Transaction& tx, const Lease& lease);
Result<void> update_lease(Transaction& tx, const Lease& lease);
// Whoever asks: for what follows a lease. nullopt: there is none.
Result<std::optional<Lease>> load_lease(Transaction& tx, const std::string& id);

// Every lease of some projects, those that ended too: what usage is counted from.
Result<std::vector<Lease>> load_leases(Transaction& tx, const Projects& projects);

Result<Answer> list_leases(Service& service, const Page& page, bool ended_too);

// Gives the devices back. Releasing what ended before is no error: the devices are free.
Result<Answer> release_lease(Service& service, const Caller& caller, const std::string& id);
// Holds on for `lifetime` from now. Fails with conflict once it has ended: the devices may be
// somebody else's by now.
Result<Answer> renew_lease(Service& service, const Caller& caller, const std::string& id,
                           Duration lifetime);

}  // namespace exa
