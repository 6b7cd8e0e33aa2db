// Id sets as Flux writes them: "0-3", "1,3-5", with or without brackets. Kept as ranges, so that a
// set of four thousand million ids costs as much as one of two.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace exa {

struct IdRange {
  int64_t first = 0;
  int64_t last = 0;  // inclusive
  bool operator==(const IdRange&) const = default;
};

struct IdSet {
  std::vector<IdRange> ranges;  // sorted, apart from each other by at least one id

  int64_t count() const;
  bool contains(int64_t id) const;
  bool operator==(const IdSet&) const = default;
};

// An empty text is the empty set. Ids are whole numbers below 2^31; a repeated id counts once.
// `what` names the set in the error (unreadable_output).
Result<IdSet> parse_idset(std::string_view text, std::string_view what);

IdSet unite(const IdSet& a, const IdSet& b);
IdSet subtract(const IdSet& from, const IdSet& what);

}  // namespace exa
