// What the routes of workbenches, training runs and services answer.
#include "api/schema.h"
#include "service/launches.h"

namespace exa {
namespace {

using namespace schema;

Members launch_members() {
  return {{"name", text()},
          {"kind", word({"workbench", "training", "serving"})},
          {"project", text()},
          {"id", text()},
          {"state", word(LaunchState::stopped)},
          {"reason", maybe(text())},
          {"cluster", maybe(text())},
          {"backend", text()},
          {"job", maybe(text())},
          {"nodes", list(text())},
          {"exit_code", maybe(integer())},
          {"hardware_profile", maybe(text())},
          {"overrides", list(text())},
          {"shape", any()},
          {"resolution", any()},
          {"details", any()},
          {"lease", maybe(text())},
          {"decision", maybe(text())},
          {"created_at", time()},
          {"created_by", text()},
          {"submitted_at", maybe(time())},
          {"started_at", maybe(time())},
          {"ended_at", maybe(time())},
          {"folder", maybe(text())},
          {"image", maybe(text())},
          {"command", text()}};
}

}  // namespace

std::vector<ReplySchema> launch_schemas() {
  json::object file = object({{"name", text()}, {"text", text()}});
  const Members one =
      launch_members() + Members{{"plan", maybe(object({sometimes("id", maybe(text())),
                                                        {"command", list(text())},
                                                        {"files", list(std::move(file))},
                                                        {"notes", list(text())},
                                                        {"placement", any()}}))}};
  return {{"Launch", object(one)},
          {"DeletedLaunch", object(one + Members{{"deleted", yes_no()}})},
          {"LaunchList", page(object(launch_members()))},
          {"RenderedServices",
           page(object({{"engine", text()},
                        {"models", list(text())},
                        {"command", list(text())},
                        {"files", list(object({{"name", text()}, {"text", text()}}))},
                        {"notes", list(text())}}))},
          {"LaunchLogs", object({{"name", text()}, {"project", text()}, {"text", text()}})},
          {"WorkbenchAddress", object({{"name", text()},
                                       {"project", text()},
                                       {"url", maybe(text())},
                                       {"node", maybe(text())},
                                       {"tunnel", maybe(text())}})}};
}

}  // namespace exa
