// When a cluster is to be looked at again. Pure, but for the query that fetches what it rests on.
#pragma once

#include "service/clusters.h"

namespace exa {

// What is known of the looks at one cluster.
struct Looks {
  std::string cluster;
  Duration max_age;          // a snapshot older than this verifies nothing
  std::optional<Time> last;  // the last attempt, good or not
  int64_t failures = 0;      // in a row, up to now
};

// A third of max_age after the last look (10 s to 1 h), so that two may fail before answers age
// out. Each failure in a row doubles the wait, up to max_age or 15 minutes, whichever is longer. A
// cluster that nobody looked at yet is due at once.
Time next_look(const Looks& looks);

// Of every cluster that is there. One statement.
Result<std::vector<Looks>> load_looks(Transaction& tx);

}  // namespace exa
