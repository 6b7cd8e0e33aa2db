// The names of statuses and causes, and the JSON form of an answer.
#include <algorithm>
#include <array>

#include "base/json_or_null.h"
#include "base/quantity.h"
#include "resolve/resolve.h"

namespace exa {
namespace {

constexpr std::array<std::string_view, 4> kStatuses = {"unchecked", "verified", "degraded",
                                                       "unresolvable"};
constexpr std::array<std::string_view, 8> kCauses = {
    "no-target",   "no-snapshot",    "no-such-family",    "capacity",
    "unconfirmed", "stale-snapshot", "declared-capacity", "confirmed"};
constexpr std::array<std::string_view, 3> kMatches = {"confirmed", "contradicted", "not-reported"};

json::value gib(int64_t bytes) {
  return number_from_text(format_gib(bytes));
}

json::array texts(const std::vector<std::string>& list) {
  json::array array;
  for (const std::string& text : list) array.emplace_back(text);
  return array;
}

// An amount of the dimension in the unit of its field.
json::value amount(const Dimension& dimension, std::optional<int64_t> value) {
  if (!value) return nullptr;
  if (dimension.name == "cpu") return number_from_milli(*value);
  if (dimension.name == "memory_gb") return gib(*value);
  return *value;
}

json::object to_json(const Ask& ask) {
  return {{"accelerator_family", info(ask.accelerator_family).name},
          {"nodes", ask.nodes},
          {"gpus_per_node", ask.gpus_per_node},
          {"gpus", ask.gpus},
          {"gpu_fraction", number_from_milli(ask.gpu_fraction_milli)},
          {"mig_profile", text_or_null(ask.mig_profile)},
          {"cpu_per_node", number_from_milli(ask.cpu_milli_per_node)},
          {"cpu", number_from_milli(ask.cpu_milli)},
          {"memory_gb_per_node", gib(ask.memory_bytes_per_node)},
          {"memory_gb", gib(ask.memory_bytes)}};
}

json::object to_json(const FieldVerdict& verdict) {
  return {{"field", verdict.field},
          {"claimed", verdict.claimed},
          {"verdict", name(verdict.verdict)},
          {"observed", text_or_null(verdict.observed)}};
}

json::object to_json(const Dimension& dimension) {
  return {{"dimension", dimension.name},
          {"asked", amount(dimension, dimension.asked)},
          {"largest", amount(dimension, dimension.largest)},
          {"asked_total", amount(dimension, dimension.asked_total)},
          {"total", amount(dimension, dimension.total)},
          {"nodes_asked", dimension.nodes_asked},
          {"nodes_that_have", dimension.nodes_that_have},
          {"note", text_or_null(dimension.note)}};
}

json::value to_json(const std::optional<FitsNow>& now) {
  if (!now) return nullptr;
  json::value fits = nullptr;
  if (now->fits) fits = *now->fits;
  return json::object{{"fits", fits}, {"nodes", now->nodes}, {"nodes_unknown", now->nodes_unknown}};
}

json::value snapshot_to_json(const std::optional<Resolution::Seen>& seen) {
  if (!seen) return nullptr;
  constexpr int64_t kSecond = 1'000'000;
  return json::object{{"id", text_or_null(seen->snapshot_id)},
                      {"taken_at", format_rfc3339(seen->taken_at)},
                      {"age_seconds", seen->age.micros / kSecond},
                      {"max_age_seconds", seen->max_age.micros / kSecond},
                      {"declared", seen->declared},
                      {"as_of", seen->is_as_of ? json::value(format_rfc3339(seen->taken_at))
                                               : json::value(nullptr)}};
}

json::value nodes_to_json(const std::optional<Resolution::Seen>& seen) {
  if (!seen) return nullptr;
  json::object unusable;
  for (const auto& [health, count] : seen->unusable) unusable.emplace(name(health), count);
  return json::object{{"total", seen->nodes},
                      {"usable", seen->usable_nodes},
                      {"fitting", seen->fitting_nodes},
                      {"unusable", std::move(unusable)}};
}

template <typename Row>
json::array list(const std::vector<Row>& rows) {
  json::array array;
  for (const Row& row : rows) array.emplace_back(to_json(row));
  return array;
}

}  // namespace

std::string_view name(Status status) {
  return kStatuses.at(static_cast<size_t>(status));
}

std::string_view name(Cause cause) {
  return kCauses.at(static_cast<size_t>(cause));
}

std::string_view name(Match match) {
  return kMatches.at(static_cast<size_t>(match));
}

json::object to_json(const Resolution& resolution) {
  return {{"status", name(resolution.status)},
          {"cause", name(resolution.cause)},
          {"reason", resolution.reason},
          {"target", text_or_null(resolution.target)},
          {"resources", to_json(resolution.resources)},
          {"verdicts", list(resolution.verdicts)},
          {"unconfirmed", texts(resolution.unconfirmed)},
          {"missing", list(resolution.missing)},
          {"fits_now", to_json(resolution.fits_now)},
          {"snapshot", snapshot_to_json(resolution.seen)},
          {"nodes", nodes_to_json(resolution.seen)},
          {"remarks", texts(resolution.remarks)}};
}

}  // namespace exa
