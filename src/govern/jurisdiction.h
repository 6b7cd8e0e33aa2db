// Where the law of a cloud region lies: region -> jurisdiction, a table and never a rule of
// spelling, because names lie: eu-west-2 is London (uk), eu-central-2 and europe-west6 are Zurich
// (ch), norwayeast is outside the EU. What stands in no table is unknown, which forbids. Semantics
// §5.
//
// Shipped rows cover AWS, Azure and Google Cloud and plain codes (eu, us, de, …); an admin's rows
// are passed in and come first. Pure; safe to read from any number of threads.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace exa {

// Jurisdictions are lower-case codes: "eu" for the member states, else the country's (uk, ch, us).
inline constexpr std::string_view kEu = "eu";

struct ShippedRegion {
  std::string_view region;
  std::string_view jurisdiction;
};
std::span<const ShippedRegion> shipped_regions();  // sorted by region, unique

struct RegionRow {
  std::string region;        // lower case
  std::string jurisdiction;  // lower case; empty: on purpose unknown, whatever is shipped
  bool operator==(const RegionRow&) const = default;
};

// What an admin wrote over the shipped table. Sorted by region, unique.
struct JurisdictionTable {
  std::vector<RegionRow> rows;
};

// Exact but for ASCII case. nullopt: in no table, or declared unknown. The view lies in the table
// or in compiled-in data.
std::optional<std::string_view> jurisdiction_of(const JurisdictionTable& table,
                                                std::string_view region);

// The table with one row set. Fails with invalid_input: a region or code that is malformed.
Result<JurisdictionTable> with_region(JurisdictionTable table, std::string_view region,
                                      std::string_view jurisdiction);
// Back to what is shipped. Fails with not_found when no row was written over.
Result<JurisdictionTable> without_region(JurisdictionTable table, std::string_view region);

// [a-z][a-z0-9-]{1,31}, for codes of jurisdictions.
bool is_jurisdiction_code(std::string_view text);

json::object to_json(const RegionRow& row);  // region, jurisdiction (null: declared unknown)

}  // namespace exa
