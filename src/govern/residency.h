// Data residency: how far a workload's data may go. Requirement "Governed cloud bursting";
// semantics §5. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace exa {

// From the most to the least free; the order decides which is the strictest.
enum class Residency { open, eu_only, no_egress, restricted };

std::string_view name(Residency residency);                      // "open", "eu-only", …
std::optional<Residency> find_residency(std::string_view name);  // exact spelling
std::vector<std::string> residency_names();

// What one source says about the data. An empty text says nothing.
struct ResidencyClaim {
  std::string_view source;  // "project", "dataset", "workload"
  std::string_view written;
};

struct EffectiveResidency {
  Residency residency = Residency::open;
  std::string source;   // whose word decided; "default" when nobody said anything
  std::string unknown;  // the class as written, when it is none of the four; else empty

  bool operator==(const EffectiveResidency&) const = default;
};

// The strictest of all claims; an unknown class counts as restricted. Of equally strict claims the
// first decides, a known one before an unknown one. `otherwise` where nobody said anything.
EffectiveResidency effective_residency(std::span<const ResidencyClaim> claims,
                                       Residency otherwise = Residency::open);

json::object to_json(const EffectiveResidency& residency);  // class, source, unknown

}  // namespace exa
