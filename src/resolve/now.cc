// Free capacity: what the nodes behind an answer could take at the moment of the snapshot.
#include <algorithm>

#include "resolve/fit.h"
#include "resolve/saturating.h"

namespace exa {
namespace {

enum class Free { no, unknown, yes };

Free enough(int64_t free, int64_t needed) {
  if (needed == 0) return Free::yes;
  if (free == kNotSaid) return Free::unknown;
  return free >= needed ? Free::yes : Free::no;
}

// What a way needs of the class's column of free units.
struct FreeUnits {
  const int32_t* column = nullptr;  // nullptr: no device needed, or none was read
  int64_t needed = 0;
  bool unread = false;
};

std::vector<FreeUnits> free_units(const Shape& shape, const Fleet& fleet, const ClassFit& row,
                                  size_t variant, ClaimSet claims) {
  std::vector<FreeUnits> result;
  for (const Way& way : row.ways) {
    if (!covers(borne_out(way, variant), claims)) continue;
    if (way.offer == nullptr)
      result.push_back({nullptr, 0, way.unread});
    else
      result.push_back({fleet.free.data() + way.offer->free_at,
                        saturating_product(shape.gpu_count, way.units_each)});
  }
  return result;
}

Free devices_free(const std::vector<FreeUnits>& ways, size_t i) {
  Free best = Free::no;
  for (const FreeUnits& way : ways) {
    const Free one = way.unread              ? Free::unknown
                     : way.column == nullptr ? Free::yes
                                             : enough(way.column[i], way.needed);
    best = std::max(best, one);
  }
  return best;
}

// Whether the i-th node holds the ask in total, and what it does not say about it.
std::optional<size_t> silence_if_holding(const Shape& shape, int64_t cpu, int64_t memory) {
  const Free has_cpu = enough(cpu, shape.cpu_milli);
  const Free has_memory = enough(memory, shape.memory_bytes);
  if (has_cpu == Free::no || has_memory == Free::no) return std::nullopt;
  return (has_cpu == Free::unknown ? kSilentOnCpu : 0) |
         (has_memory == Free::unknown ? kSilentOnMemory : 0);
}

void count_class(const Shape& shape, const Fleet& fleet, const Comparisons& comparisons,
                 const ClassFit& row, ClaimSet claims, FitsNow& now) {
  std::array<std::vector<FreeUnits>, kVariants> ways;
  for (size_t variant = 0; variant < kVariants; ++variant)
    ways.at(variant) = free_units(shape, fleet, row, variant, claims);
  for (size_t i = 0; i < row.nodes->count; ++i) {
    const size_t node = row.nodes->first + i;
    const auto silence = silence_if_holding(shape, fleet.cpu_milli[node], fleet.memory_bytes[node]);
    if (!silence) continue;
    const auto& of_variant = ways.at(*silence | tagged_variant(comparisons, node));
    if (of_variant.empty()) continue;
    const Free free =
        std::min({devices_free(of_variant, i), enough(fleet.cpu_free_milli[node], shape.cpu_milli),
                  enough(fleet.memory_free_bytes[node], shape.memory_bytes)});
    if (free == Free::yes) ++now.nodes;
    if (free == Free::unknown) ++now.nodes_unknown;
  }
}

}  // namespace

FitsNow fits_now(const Shape& shape, const Fleet& fleet, const Comparisons& comparisons,
                 const Fit& fit, ClaimSet claims) {
  FitsNow now;
  for (const ClassFit& row : fit.classes) count_class(shape, fleet, comparisons, row, claims, now);
  if (now.nodes >= shape.nodes)
    now.fits = true;
  else if (now.nodes + now.nodes_unknown < shape.nodes)
    now.fits = false;
  return now;
}

}  // namespace exa
