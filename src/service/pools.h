// Device pools and engines: what work can be placed on, and what can run there. Requirement
// "Heterogeneous Hardware & Hybrid HPC <-> Cloud"; semantics §5.
#pragma once

#include "service/service.h"

namespace exa {

// `given` has the keys of merge_pool: a pool that is there already keeps what is not given.
Result<Answer> add_pool(Service& service, const Caller& caller, const json::object& given);
Result<Answer> list_pools(Service& service);  // cheapest first, with what is free
// Leases of projects that the caller may not see are counted, not named.
Result<Answer> show_pool(Service& service, const Caller& caller, const std::string& name);
// A drained pool takes nothing new; what runs there goes on.
Result<Answer> drain_pool(Service& service, const Caller& caller, const std::string& name,
                          const std::string& reason, bool undo);
// Refused while leases hold devices of it, unless forced with a reason.
Result<Answer> remove_pool(Service& service, const Caller& caller, const std::string& name,
                           bool force, const std::string& reason);

Result<Answer> list_engines(Service& service);
Result<Answer> show_engine(Service& service, const std::string& name);
Result<Answer> add_engine(Service& service, const Caller& caller, const std::string& name,
                          std::vector<std::string> backends);
Result<Answer> remove_engine(Service& service, const Caller& caller, const std::string& name);
Result<Answer> portability(Service& service, const std::string& engine,
                           const std::string& accelerator);

}  // namespace exa
