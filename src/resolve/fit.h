// Which nodes of a fleet can hold an ask, and which claims they bear out together. Inside resolve/
// only.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "resolve/resolve.h"
#include "resolve/ways.h"

namespace exa {

// Nodes of a class differ in what they do not say and in their tags; a variant is the sum of these.
inline constexpr size_t kSilentOnCpu = 1;
inline constexpr size_t kSilentOnMemory = 2;
inline constexpr size_t kDriverTagged = 4;   // a tag of the node confirms the driver
inline constexpr size_t kRuntimeTagged = 8;  // or the runtime
inline constexpr size_t kVariants = 16;
ClaimSet silent_claims(size_t variant);
ClaimSet tagged_claims(size_t variant);
size_t tagged_variant(const Comparisons& comparisons, size_t node);  // the last two, by node

struct ClassFit {
  const FleetClass* nodes = nullptr;
  std::vector<Way> ways;                     // those with enough devices
  std::array<int64_t, kVariants> holding{};  // nodes with enough cpu and memory
};

struct Fit {
  std::vector<ClassFit> classes;  // usable ones with a way and a holding node
  int64_t nodes = 0;              // distinct nodes that hold the coarse ask
};

Fit fit(const Shape& shape, const Fleet& fleet, const Comparisons& comparisons);

// Claims that the way bears out on a node of that variant.
inline ClaimSet borne_out(const Way& way, size_t variant) {
  const auto said = static_cast<ClaimSet>(~silent_claims(variant));
  return static_cast<ClaimSet>((way.confirmed & said) | tagged_claims(variant));
}
inline bool covers(ClaimSet have, ClaimSet wanted) {
  return (have & wanted) == wanted;
}

int64_t nodes_bearing_out(const Fit& fit, ClaimSet claims);

// The largest set of claims that `nodes` distinct nodes bear out together; ties as resolve.h says.
ClaimSet best_claims(const Fit& fit, ClaimSet claimed, int64_t nodes);

// The dimensions that keep the ask from fitting (capacity.cc).
std::vector<Dimension> missing_dimensions(const Shape& shape, const Fleet& fleet,
                                          const Comparisons& comparisons, const Fit& fit);

// What could be taken now by the nodes and ways that bear out `claims` (now.cc).
FitsNow fits_now(const Shape& shape, const Fleet& fleet, const Comparisons& comparisons,
                 const Fit& fit, ClaimSet claims);

// One verdict per claimed field; `claims` are those confirmed together (verdicts.cc).
std::vector<FieldVerdict> verdicts_of(const Shape& shape, const Fleet& fleet,
                                      const Comparisons& comparisons, const Fit& fit,
                                      ClaimSet claims);
std::vector<FieldVerdict> verdicts_of_unchecked(const Shape& shape);
std::vector<FieldVerdict> verdicts_of_missing(const Shape& shape, const Fleet& fleet,
                                              const Comparisons& comparisons,
                                              const std::vector<Dimension>& missing,
                                              int64_t fitting_nodes);

}  // namespace exa
