// What the routes of compute profiles answer.
#include "api/schema.h"
#include "catalogue/compute_sku.h"

namespace exa {
namespace {

using namespace schema;

json::object sharing() {
  return maybe(either({word({"none", "all"}), list(text())}));
}

json::object price() {
  return maybe(object({{"amount", number()}, {"currency", text()}}));
}

json::object input() {
  const auto names = [](std::vector<std::string> words) {
    return json::object{{"type", "string"}, {"enum", json::array(words.begin(), words.end())}};
  };
  return object({{"name", text()},
                 {"label", maybe(text())},
                 {"description", maybe(text())},
                 {"group", maybe(text())},
                 {"type", names(input_type_names())},
                 {"required", yes_no()},
                 {"default", any()},
                 {"override", names(input_override_names())},
                 {"allowed_values", maybe(either({list(any()), map(any())}))},
                 {"choices", maybe(list(text()))},
                 {"min", maybe(number())},
                 {"max", maybe(number())},
                 {"step", maybe(number())},
                 {"pattern", maybe(text())},
                 {"depends_on", maybe(object({{"input", text()}, {"values", list(any())}}))}});
}

json::object output() {
  return object({{"name", text()},
                 {"label", maybe(text())},
                 {"description", maybe(text())},
                 {"secret", yes_no()}});
}

Members document() {
  return {{"name", text()},
          {"display_name", maybe(text())},
          {"description", maybe(text())},
          {"allocation", word(SkuAllocation::shared)},
          {"environment_template", object({{"name", maybe(text())}, {"version", maybe(text())}})},
          {"hardware_profile", maybe(text())},
          {"shape", maybe(ref("Shape"))},
          {"labels", map(text())},
          {"annotations", map(text())},
          {"icon_url", maybe(text())},
          {"readme", maybe(text())},
          {"price_per_hour", price()},
          {"inputs", list(ref("ComputeProfileInput"))},
          {"outputs", list(output())}};
}

Members facts() {
  return {{"project", text()},
          {"version", count()},
          {"latest_version", count()},
          {"published", yes_no()},
          {"shared_with", sharing()},
          {"created_at", time()},
          {"created_by", maybe(text())},
          {"version_created_at", time()},
          {"version_created_by", maybe(text())},
          {"reason", maybe(text())},
          {"changed_at", maybe(time())},
          {"changed_by", maybe(text())},
          {"deleted_at", maybe(time())},
          {"deleted_by", maybe(text())},
          {"imported", maybe(yes_no())},
          {"resources", maybe(ref("Shape"))}};
}

json::object listed() {
  return object({{"name", text()},
                 {"project", text()},
                 {"version", count()},
                 {"published", yes_no()},
                 {"shared_with", sharing()},
                 {"display_name", maybe(text())},
                 {"description", maybe(text())},
                 {"allocation", word(SkuAllocation::shared)},
                 {"price_per_hour", price()},
                 {"icon_url", maybe(text())},
                 {"created_at", time()},
                 {"changed_at", maybe(time())}});
}

json::object history() {
  return object({{"name", text()},
                 {"project", text()},
                 {"published", yes_no()},
                 {"deleted_at", maybe(time())},
                 {"items", list(object({{"version", count()},
                                        {"created_at", time()},
                                        {"created_by", maybe(text())},
                                        {"reason", maybe(text())},
                                        {"changes", list(text())}}))}});
}

json::object difference() {
  return object({{"from", text()},
                 {"to", text()},
                 {"same", yes_no()},
                 {"summary", text()},
                 {"items", list(object({{"where", text()},
                                        {"before", any()},
                                        {"after", any()},
                                        {"text", text()},
                                        {"changes_the_instance", yes_no()}}))}});
}

json::object checked() {
  return object({{"name", text()},
                 {"project", text()},
                 {"version", count()},
                 {"inputs", map(object({{"value", any()},
                                        {"source", word(InputSource::fixed)},
                                        sometimes("label", text())}))}});
}

}  // namespace

std::vector<ReplySchema> compute_profile_schemas() {
  const json::object note = object({{"where", text()}, {"message", text()}});
  return {
      {"ComputeProfile", object(document() + facts())},
      {"ComputeProfileInput", input()},
      {"ComputeProfileList", page(listed())},
      {"ComputeProfileHistory", history()},
      {"ComputeProfileDiff", difference()},
      {"ComputeProfileInputs", object({{"name", text()},
                                       {"project", text()},
                                       {"version", count()},
                                       {"schema", map(any())},
                                       {"items", list(ref("ComputeProfileInput"))}})},
      {"CheckedInputs", checked()},
      {"ExportedComputeProfile", object({{"name", text()},
                                         {"project", text()},
                                         {"version", count()},
                                         {"format", word({"rafay"})},
                                         {"text", text()},
                                         {"notes", list(note)}})},
      {"PublishedComputeProfile",
       object(
           {{"name", text()}, {"project", text()}, {"version", count()}, {"published", yes_no()}})},
      {"SharedComputeProfile",
       object({{"name", text()}, {"project", text()}, {"shared_with", sharing()}})},
      {"DeletedComputeProfile",
       object(
           {{"name", text()}, {"project", text()}, {"version", count()}, {"deleted_at", time()}})},
  };
}

}  // namespace exa
