// What the routes of manifests, machines and ML platforms answer.
#include "api/schema.h"
#include "discover/palette.h"
#include "service/manifests.h"
#include "service/platform_rows.h"

namespace exa {
namespace {

using namespace schema;

Members source() {
  return {{"name", text()},
          {"kind", word(MachineSourceKind::agent)},
          sometimes("path", text()),
          sometimes("url", text()),
          sometimes("token_file", text()),
          sometimes("ca_file", text()),
          sometimes("cluster", text()),
          {"tags", map(text())},
          {"interval", text()},
          {"created_at", time()},
          {"created_by", text()},
          {"looked_at", maybe(time())},
          {"succeeded_at", maybe(time())},
          {"error", maybe(text())},
          {"machines", count()}};
}

// A manifest is in the document's words, whatever they are; it always says what it is.
json::object manifest() {
  json::object kept = map(any());
  kept["required"] = json::array{"apiVersion", "kind", "metadata"};
  return kept;
}

json::object applied() {
  return object({{"kind", text()},
                 {"name", text()},
                 {"project", text()},
                 {"result", word(ManifestChange::unchanged)}});
}

json::object held_machine() {
  return object({{"id", text()},
                 {"as", word(ChosenAs::any_family)},
                 {"address", text()},
                 {"architecture", maybe(text())},
                 {"family", maybe(text())},
                 {"gpus", count()},
                 {"control_plane", yes_no()},
                 {"worker", yes_no()}});
}

Members platform() {
  const json::object run = object({{"action", text()},
                                   {"started_at", time()},
                                   {"ended_at", maybe(time())},
                                   {"succeeded", yes_no()},
                                   {"reason", maybe(text())},
                                   {"outputs", map(any())}});
  return {{"name", text()},
          {"project", text()},
          {"id", text()},
          {"state", word(PlatformState::deleting)},
          {"reason", maybe(text())},
          {"generation", count()},
          {"built_generation", count()},
          {"mode", word(AllocationMode::shared)},
          {"gpus", map(count())},
          {"minimum_workers", count()},
          {"minimum_from", maybe(text())},
          {"machines", list(held_machine())},
          {"leftover_gpus", count()},
          {"filler_gpus", count()},
          {"compute_profile", text()},
          {"profile", map(any())},
          {"workload_profile", maybe(text())},
          {"provisioner", maybe(text())},
          {"last_run", maybe(run)},
          {"created_at", time()},
          {"created_by", text()},
          {"updated_at", time()}};
}

json::object plan() {
  return object({{"name", text()},
                 {"project", text()},
                 {"met", yes_no()},
                 {"mode", word(AllocationMode::shared)},
                 {"gpus", map(count())},
                 {"compute_profile", text()},
                 {"minimum_workers", count()},
                 {"minimum_from", maybe(text())},
                 {"warnings", list(text())},
                 {"limits_exceeded", list(text())},
                 {"shortages", list(text())},
                 {"control_plane", list(text())},
                 {"workers", list(text())},
                 {"leftover_gpus", count()},
                 {"filler_gpus", count()},
                 {"machines", list(object({{"id", text()},
                                           {"as", word(ChosenAs::any_family)},
                                           {"gpus", count()},
                                           {"why", text()}}))}});
}

json::object difference() {
  return object({{"field", text()}, {"before", any()}, {"after", any()}});
}

json::object provisioner() {
  return object({{"name", text()},
                 {"driver", word({"script", "ansible", "opentofu"})},
                 {"folder", text()},
                 {"time_limit", text()},
                 {"outputs", list(text())},
                 {"created_at", time()},
                 {"created_by", text()},
                 {"problems", list(text())}});
}

// As to_json(Machine) has it, and what stands against it.
json::object machine() {
  const json::object from = word({"agent", "tag"});
  const auto known = [&](json::object of) {
    return maybe(object({{"value", std::move(of)}, {"from", from}}));
  };
  return object({{"id", text()},
                 {"address", maybe(text())},
                 {"architecture", maybe(text())},
                 {"cpus", known(count())},
                 {"memory_bytes", maybe(count())},
                 {"gpus", known(count())},
                 {"gpu_family", known(text())},
                 {"gpu_memory_bytes", known(count())},
                 {"role", maybe(word({"control-plane", "worker"}))},
                 {"tagged", yes_no()},
                 {"worker_tagged", yes_no()},
                 {"resource_groups", map(text())},
                 {"unfit", list(text())},
                 {"notes", list(text())},
                 {"source", text()},
                 {"healthy", yes_no()},
                 {"heard_at", maybe(time())},
                 {"offered", yes_no()},
                 {"reasons", list(text())},
                 {"held", list(text())},
                 {"differences", list(text())}});
}

}  // namespace

std::vector<ReplySchema> compute_schemas() {
  const json::object removed = object({{"name", text()}, {"removed", yes_no()}});
  const json::object logs = object({{"name", text()}, {"project", text()}, {"text", text()}});
  const json::object unread = object({{"what", text()}, {"why", text()}});
  const json::object deleted =
      object({{"kind", text()}, {"name", text()}, {"project", text()}, {"deleted", yes_no()}});
  return {
      {"MachineSource", object(source())},
      {"MachineSourceList", page(object(source()))},
      {"RemovedMachineSource",
       object({{"name", text()}, {"removed", yes_no()}, {"machines", count()}})},
      {"MachineLook", object({{"name", text()},
                              {"machines", count()},
                              {"changed", count()},
                              {"unread", list(unread)}})},
      {"Machine", machine()},
      {"MachineList", page(ref("Machine"))},
      {"MachineHeard", object({{"id", text()},
                               {"changed", yes_no()},
                               {"differences", list(text())},
                               {"interval", text()}})},
      {"ForgottenMachine", object({{"id", text()}, {"forgotten", yes_no()}})},
      {"Applied", either({object({{"items", list(applied())}}), ref("Launch")})},
      {"ManifestDiff", object({{"items", list(object({{"kind", text()},
                                                      {"name", text()},
                                                      {"project", text()},
                                                      {"result", word(ManifestChange::unchanged)},
                                                      {"differences", list(difference())}}))}})},
      {"Manifests", either({page(manifest()), manifest()})},
      {"DeletedManifest", deleted},
      {"ManifestFields", object({{"kind", text()},
                                 {"api_version", text()},
                                 {"fields", list(object({{"path", text()},
                                                         {"type", text()},
                                                         {"required", yes_no()},
                                                         {"help", text()}}))}})},
      {"MlPlatform", object(platform() + Members{sometimes("warnings", list(text()))})},
      {"MlPlatformList", page(object(platform()))},
      {"MlPlatformPlan", plan()},
      {"MlPlatformFiles", object({{"name", text()},
                                  {"project", text()},
                                  {"files", list(object({{"name", text()}, {"text", text()}}))}})},
      {"MlPlatformLogs", logs},
      {"DeletedMlPlatform",
       either({deleted, object(platform() + Members{sometimes("warnings", list(text()))})})},
      {"Provisioner", provisioner()},
      {"ProvisionerList", page(provisioner())},
      {"RemovedProvisioner", removed},
  };
}

}  // namespace exa
