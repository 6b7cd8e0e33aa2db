// What a newer version of a compute profile changes, in words for whoever runs an instance of an
// older one ("memory 32 → 64 GiB; input gpu_count now at most 4"), and as data. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "catalogue/compute_sku.h"

namespace exa {

struct SkuChange {
  std::string where;   // JSON pointer; of an input or output by name: "/inputs/gpu_count/max"
  json::value before;  // null: not there
  json::value after;
  std::string text;  // "memory 32 → 64 GiB"
  // A launch of the newer version could come out otherwise; false of what is only read or seen.
  bool changes_the_instance = false;

  bool operator==(const SkuChange&) const = default;
};

// In the order of the SKU's fields. The shapes are those of the hardware profiles that the two
// name, where they are known: then what they differ in is told beside the names.
std::vector<SkuChange> diff(const ComputeSku& before, const ComputeSku& after,
                            const Shape* profile_before = nullptr,
                            const Shape* profile_after = nullptr);

// Their texts in one line; of those that change the instance where there are any. Empty: equal.
std::string in_words(std::span<const SkuChange> changes);

// {"where", "before", "after", "text", "changes_the_instance"}
json::object to_json(const SkuChange& change);

}  // namespace exa
