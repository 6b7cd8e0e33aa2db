#include "service/workbenches.h"

#include <fmt/format.h>

namespace exa {
namespace {

// It answers on its own machine only, behind a token of its own making, on the first port that is
// free. exa keeps neither: both are read from what it prints (open_workbench).
Program jupyter(const LaunchTarget& target, int64_t port) {
  const std::string& folder = target.folder;
  // in a pod of its own the only way in is its address
  const bool in_pod = target.kind == ClusterKind::kubernetes;
  Program program;
  program.command = {"jupyter-notebook",
                     "--no-browser",
                     "--allow-root",
                     in_pod ? "--ip=0.0.0.0" : "--ip=127.0.0.1",
                     fmt::format("--port={}", port),
                     "--port-retries=200"};
  if (!folder.empty()) program.command.emplace_back("--notebook-dir=" + folder);
  return program;
}

}  // namespace

Result<Answer> create_workbench(Service& service, const Caller& caller, CreateWorkbench what) {
  what.launch.kind = Surface::workbench;
  what.launch.program = [&](const Shape& shape, const LaunchTarget& target) -> Result<Program> {
    if (shape.nodes != 1) {
      return fail(
          invalid("workbench", {{"/nodes", "is 1 for a workbench: it is one program", ""}}));
    }
    Program program = jupyter(target, what.launch.port);
    if (!what.command.empty()) program.command = {what.command.begin(), what.command.end()};
    program.environment = what.environment;
    program.details = {{"program", what.command.empty() ? "jupyter-notebook" : what.command[0]}};
    return program;
  };
  return start_launch(service, caller, what.launch);
}

Result<Answer> resize_workbench(Service& service, const Caller& caller,
                                const ResizeWorkbench& what) {
  EXA_ASSIGN(const Launch stored, read_value<Launch>(service.store(), [&](Transaction& tx) {
               return find_launch(tx, what.project, Surface::workbench, what.name);
             }));
  LaunchRequest anew;
  anew.kind = Surface::workbench;
  anew.project = what.project;
  anew.name = what.name;
  anew.hardware_profile = what.hardware_profile;
  anew.given = what.given;
  if (what.hardware_profile.empty()) {
    // over the shape that it has: its profile is no longer what it runs on
    anew.given = shape_to_json(stored.shape);
    for (const auto& field : what.given) anew.given[field.key()] = field.value();
  }
  anew.require = what.require;
  anew.cluster = stored.cluster;
  anew.folder = stored.spec.folder;
  anew.image = stored.spec.image;
  anew.port = stored.spec.port;
  anew.volume = stored.spec.volume;
  anew.options = stored.spec.options;
  anew.program = same_launch(stored).program;
  return restart_launch(service, caller, what.project, Surface::workbench, what.name, anew);
}

}  // namespace exa
