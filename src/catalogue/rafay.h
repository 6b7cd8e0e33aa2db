// Rafay's ComputeProfile (paas.envmgmt.io/v1) as a compute profile of the catalogue, and back.
// Pure.
//
// What is kept: the whole document. Writing over it replaces only what differs from what reading it
// gives, so a document that is read and written unchanged comes out as it went in, with every field
// that nobody here knows.
//
// What reading never does is loosen: bounds and choices that Rafay only shows in its form (stepper,
// dropdown, radio, "disabled") become rules, and an input whose rule has no equal here is fixed at
// its value, with a note. An override of an unknown type is refused by name.
//
// Rafay publishes the form of `metadata` and of `spec.variables`; where the rest stands is not
// documented. Those fields are read under several spellings (the table in rafay_fields.h) and
// written under the first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalogue/compute_sku.h"

namespace exa {

inline constexpr std::string_view kRafayVersion = "paas.envmgmt.io/v1";

// Whether a document says that it is one, of any version.
bool is_rafay_profile(const json::value& document);

// Something that was not carried over, and why.
struct RafayNote {
  std::string where;  // JSON pointer: of the document when reading, of the SKU when writing
  std::string message;

  bool operator==(const RafayNote&) const = default;
};

struct RafaySku {
  ComputeSku sku;
  json::object document;  // as it was
  std::vector<RafayNote> notes;
};

// Fails with invalid_input and every problem, by JSON pointer into the document.
Result<RafaySku> rafay_sku_of(const json::value& document);
// A file of one document, YAML or JSON; problems by file:line:column where it is YAML.
Result<RafaySku> read_rafay_sku(std::string_view text, std::string_view file);

struct RafayDocument {
  json::object document;
  std::vector<RafayNote> notes;
};
// Over the document that the SKU came from, or one of the same profile; nullptr: a new one.
RafayDocument to_rafay(const ComputeSku& sku, const json::object* over = nullptr);

}  // namespace exa
