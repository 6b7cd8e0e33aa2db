// What the routes of profiles, consumers and resolution answer.
#include "api/schema.h"
#include "launch/vocabulary.h"
#include "profile/hardware_profile.h"
#include "resolve/resolve.h"

namespace exa {
namespace {

using namespace schema;

Members shape() {
  return {{"accelerator_family", accelerator()},
          {"accelerator_model_hint", maybe(text())},
          {"gpu_count", count()},
          {"gpu_fraction", number()},
          {"mig_profile", maybe(text())},
          {"cpu", number()},
          {"memory_gb", number()},
          {"nodes", count()},
          {"driver_tag", maybe(text())},
          {"runtime_tag", maybe(text())},
          {"applicability", list(word(Surface::any))},
          {"description", text()}};
}

Members version() {
  return Members{{"name", text()}, {"version", count()}} + shape() +
         Members{{"project", text()},
                 {"created_at", time()},
                 {"created_by", text()},
                 {"labels", list(text())}};
}

json::object deprecation() {
  return object({{"redirect", text()},
                 {"redirect_gone", yes_no()},
                 {"reason", text()},
                 {"at", time()},
                 {"by", text()}});
}

json::object kept_resolution() {
  return object({{"cluster", text()},
                 {"status", word(Status::unresolvable)},
                 {"cause", word(Cause::confirmed)},
                 {"reason", text()},
                 {"unconfirmed", list(text())},
                 {"snapshot_id", text()},
                 {"snapshot_taken_at", time()},
                 {"resolved_at", time()}});
}

Members profile() {
  return version() + Members{{"deprecated", maybe(deprecation())},
                             {"resolutions", list(ref("KeptResolution"))},
                             sometimes("resolution", ref("Resolution"))};
}

// A name whose label `active` points nowhere.
json::object without_active() {
  return object(
      {{"name", text()},
       {"version", null()},
       {"project", text()},
       {"note", text()},
       sometimes("latest_version", count()),
       sometimes("other_labels", list(object({{"label", text()}, {"version", count()}})))});
}

json::object ask() {
  return object({{"accelerator_family", accelerator()},
                 {"nodes", count()},
                 {"gpus_per_node", count()},
                 {"gpus", count()},
                 {"gpu_fraction", number()},
                 {"mig_profile", maybe(text())},
                 {"cpu_per_node", number()},
                 {"cpu", number()},
                 {"memory_gb_per_node", number()},
                 {"memory_gb", number()}});
}

json::object verdict() {
  return object({{"field", text()},
                 {"claimed", either({text(), number()})},
                 {"verdict", word(Match::not_reported)},
                 {"observed", maybe(text())}});
}

json::object missing_dimension() {
  return object({{"dimension", text()},
                 {"asked", maybe(number())},
                 {"largest", maybe(number())},
                 {"asked_total", maybe(number())},
                 {"total", maybe(number())},
                 {"nodes_asked", count()},
                 {"nodes_that_have", count()},
                 {"note", maybe(text())}});
}

json::object snapshot() {
  return object({{"id", maybe(text())},
                 {"taken_at", time()},
                 {"age_seconds", integer()},
                 {"max_age_seconds", count()},
                 {"declared", yes_no()},
                 {"as_of", maybe(time())}});
}

Members resolution() {
  return {
      {"status", word(Status::unresolvable)},
      {"cause", word(Cause::confirmed)},
      {"reason", text()},
      {"target", maybe(text())},
      {"resources", ask()},
      {"verdicts", list(verdict())},
      {"unconfirmed", list(text())},
      {"missing", list(missing_dimension())},
      {"fits_now",
       maybe(object({{"fits", maybe(yes_no())}, {"nodes", count()}, {"nodes_unknown", count()}}))},
      {"snapshot", maybe(snapshot())},
      {"nodes", maybe(object({{"total", count()},
                              {"usable", count()},
                              {"fitting", count()},
                              {"unusable", map(count())}}))},
      {"remarks", list(text())}};
}

Members consumer() {
  return {{"kind", word(Surface::serving)},
          {"name", text()},
          {"project", text()},
          {"profile", text()},
          {"cluster", maybe(text())},
          {"shape", object(shape())},
          {"since", time()},
          {"recorded_by", text()}};
}

json::object label_move() {
  return object({{"label", text()},
                 {"from_version", maybe(count())},
                 {"to_version", maybe(count())},
                 {"moved_at", time()},
                 {"moved_by", text()}});
}

json::object history() {
  return object({{"name", text()},
                 {"project", text()},
                 {"items", list(object(version() + Members{{"deleted_at", maybe(time())},
                                                           {"deleted_by", maybe(text())}}))},
                 {"label_moves", list(label_move())}});
}

json::object deleted() {
  return object({{"name", text()},
                 {"project", text()},
                 {"deleted_versions", list(count())},
                 {"dropped_labels", list(object({{"label", text()}, {"version", count()}}))},
                 {"consumers", list(object(consumer() + Members{{"effect", text()}}))}});
}

json::object difference() {
  return object({{"from", text()},
                 {"to", text()},
                 {"same", yes_no()},
                 {"items", list(object({{"field", text()},
                                        {"before", any()},
                                        {"after", any()},
                                        {"changes_the_ask", yes_no()}}))}});
}

json::object suggestions() {
  return object(
      {{"cluster", text()},
       {"snapshot_id", text()},
       {"items", list(object(Members{{"name", text()}, {"why", text()}} + shape() +
                             Members{{"command", text()}}))},
       {"never_fits", list(object({{"name", text()}, {"version", count()}, {"reason", text()}}))},
       {"next_cursor", null()}});
}

// What happened to the profile since (service/consumers).
json::object drift() {
  return word({"current", "newer-version", "older-version", "version-deleted", "profile-deleted",
               "retired"});
}

json::object in_use() {
  return object({{"items", list(object(consumer() + Members{{"status", word(Status::unresolvable)},
                                                            {"reason", text()},
                                                            {"drift", drift()},
                                                            {"drift_detail", text()}}))},
                 {"needs_attention", count()},
                 sometimes("in_other_projects", count()),
                 {"next_cursor", null()}});
}

json::object note() {
  return object({{"where", text()}, {"message", text()}});
}

json::object rendered() {
  return object({{"vocabulary", word(vocabulary_names())},
                 {"profile", text()},
                 {"text", text()},
                 {"notes", list(note())}});
}

// Of the fields of a shape, those that are said.
json::object imported() {
  Members fields;
  for (const auto& member : shape()) fields.push_back(sometimes(member.name, member.schema));
  return object({{"vocabulary", word(vocabulary_names())},
                 {"fields", object(fields)},
                 {"open", list(text())},
                 {"profile", maybe(ref("HardwareProfile"))},
                 {"notes", list(note())}});
}

}  // namespace

std::vector<ReplySchema> profile_schemas() {
  return {
      {"HardwareProfile", object(profile())},
      {"HardwareProfileList", page(either({ref("HardwareProfile"), without_active()}))},
      {"Shape", object(shape())},
      {"KeptResolution", kept_resolution()},
      {"Resolution", object(resolution())},
      {"ResolvedProfile",
       object(Members{{"name", text()}, {"version", count()}, {"project", text()}} + resolution())},
      {"DeletedProfile", deleted()},
      {"MovedLabel",
       object({{"name", text()},
               {"project", text()},
               {"label", text()},
               {"version", count()},
               {"previous_version", maybe(count())}}),
       json::object{{"name", "small"},
                    {"project", "default"},
                    {"label", "active"},
                    {"version", 1},
                    {"previous_version", 2}}},
      {"ProfileHistory", history()},
      {"ProfileDiff", difference()},
      {"DeprecatedProfile",
       object({{"name", text()},
               {"project", text()},
               {"version", maybe(count())},
               {"deprecated", yes_no()},
               {"redirect", maybe(text())},
               {"reason", text()}}),
       json::object{{"name", "small"},
                    {"project", "default"},
                    {"version", nullptr},
                    {"deprecated", true},
                    {"redirect", "medium"},
                    {"reason", ""}}},
      {"SuggestedProfiles", suggestions()},
      {"RenderedProfile", rendered()},
      {"ImportedProfile", imported()},
      {"ConsumerList", in_use()},
      {"NewConsumer", object(consumer() + Members{{"resolution", ref("Resolution")}})},
      {"ReleasedConsumer", object(consumer() + Members{{"released", yes_no()}})},
  };
}

}  // namespace exa
