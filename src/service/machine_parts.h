// What the files about machines share: their rows.
#pragma once

#include "service/machines.h"

namespace exa {

// not_found names close spellings.
Result<StoredSource> find_machine_source(Transaction& tx, const std::string& name);
Result<std::optional<WatchedMachine>> load_watched(Transaction& tx, const std::string& id);
Result<void> put_watched(Transaction& tx, const WatchedMachine& watched);

}  // namespace exa
