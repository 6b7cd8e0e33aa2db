// Does the present state follow from the audit log? The log is replayed and what profiles, versions
// and labels must look like is compared with what the store holds: an edit of the tables that left
// the log alone is found here.
#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace exa {

// One sentence for each thing that the log does not account for; empty when all is accounted for.
Result<std::vector<std::string>> unaccounted_state(Transaction& tx);

}  // namespace exa
