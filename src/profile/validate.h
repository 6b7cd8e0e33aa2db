// Untrusted input -> Shape: every problem at once, each with its pointer, the bound that was broken
// and the nearest spelling. Semantics §1 (quantities) and §3 (contradictory shapes).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "profile/hardware_profile.h"

namespace exa {

// Bounds that no machine known reaches; a larger number is a slip of the hand.
inline constexpr int64_t kMostGpusPerNode = 1'024;
inline constexpr int64_t kMostNodes = 100'000;
inline constexpr int64_t kMostCpus = 100'000;                                    // cores per node
inline constexpr int64_t kMostMemoryBytes = int64_t{1024} * 1024 * (1LL << 30);  // 1 PiB per node
inline constexpr size_t kLongestDescription = 1'024;                             // code points
inline constexpr size_t kLongestTag = 128;                                       // bytes

// The keys are those of shape_fields(); any other is a problem. Numbers are JSON numbers or decimal
// texts ("0.5"); applicability is a list or a comma-separated text; null is "not given" for the
// optional texts. accelerator_family is required; what is missing otherwise keeps Shape's default.
// Fails with invalid_input; problems stand in the document's order of fields, unknown keys last.
Result<Shape> read_shape(const json::object& input);

// The same problems as a list; empty when read_shape succeeds.
std::vector<Problem> problems_of_shape(const json::object& input);

// Rules between fields (semantics §3), for a shape whose fields are each well formed.
std::vector<Problem> contradictions(const Shape& shape);

// [a-z0-9]([a-z0-9-]{0,61}[a-z0-9])? for profiles, labels, projects, clusters. `what` names it in
// the error ("profile name"), which proposes a spelling that would do.
Result<std::string> check_name(std::string_view text, std::string_view what);
// As check_name, and not all digits: `name@3` is always a version.
Result<std::string> check_label(std::string_view text);

}  // namespace exa
