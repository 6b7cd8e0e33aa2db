// Rows and handlers of `exa workbench …` (requirement Phase 2).
#include "api/cursor.h"
#include "api/launch_params.h"
#include "base/quantity.h"
#include "service/workbenches.h"

namespace exa {
namespace {

constexpr Surface kKind = Surface::workbench;

Result<Reply> create(Service& service, const Call& call) {
  CreateWorkbench what;
  EXA_ASSIGN(what.launch, launch_request(call));
  EXA_ASSIGN(what.environment, environment_arg(call));
  what.launch.port = call.integer("port", 8888);
  if (call.has("volume")) {
    EXA_ASSIGN(what.launch.volume.bytes, parse_bytes_with_unit(call.text("volume")));
    what.launch.volume.mount = call.text("mount");
    if (!what.launch.volume.mount.starts_with('/'))
      return fail(invalid("workbench", {{"/mount", "is not absolute: it begins with /", ""}}));
  }
  what.command = texts_arg(call, "command");
  return reply_with_plan(service, call, create_workbench(service, call.caller, std::move(what)));
}

Result<Reply> list(Service& service, const Call& call) {
  Page page{call.text("project"), "", call.integer("limit", 50)};
  EXA_ASSIGN(page.after, place_before(call, "workbenches"));
  EXA_ASSIGN(Answer answer, list_launches(service, page, kKind));
  close_cursor(answer.body, "workbenches");
  return reply_of(std::move(answer));
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(
      show_launch(service, call.caller, call.text("project"), kKind, call.text("name")));
}

Result<Reply> start(Service& service, const Call& call) {
  return reply_of(
      restart_launch(service, call.caller, call.text("project"), kKind, call.text("name"), {}));
}

Result<Reply> stop(Service& service, const Call& call) {
  return reply_of(
      stop_launch(service, call.caller, call.text("project"), kKind, call.text("name")));
}

Result<Reply> resize(Service& service, const Call& call) {
  return reply_of(
      resize_workbench(service, call.caller,
                       {call.text("project"), call.text("name"), call.text("hardware_profile"),
                        shape_args_of(call), call.text("require")}));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(
      delete_launch(service, call.caller, call.text("project"), kKind, call.text("name")));
}

Result<Reply> logs(Service& service, const Call& call) {
  return reply_of(launch_logs(service, call.caller, call.text("project"), kKind, call.text("name"),
                              call.integer("lines", 100)));
}

Result<Reply> open(Service& service, const Call& call) {
  return reply_of(open_workbench(service, call.caller, call.text("project"), call.text("name")));
}

Param bench() {
  return launch_name_param("name of the workbench", "workbench");
}

}  // namespace

Param lines_param() {
  return {.name = "lines",
          .kind = Kind::integer,
          .flag = "--lines",
          .help = "how many of the last lines (default 100)",
          .least = 1,
          .most = 10'000};
}

std::vector<Route> workbench_routes() {
  const GpuFlag gpu{"--gpu", "GPUs; with --mig-profile: instances"};
  std::vector<Param> resized = joined({{bench()}, shape_params(gpu, false)});
  static const std::vector<std::string_view> kRequire = {"verified"};
  resized.push_back({.name = "require",
                     .in = In::body,
                     .kind = Kind::choice,
                     .flag = "--require",
                     .help = "refuse unless the cluster was seen to have all of it",
                     .choices = kRequire});
  resized.push_back(project_param());
  resized.push_back(dry_run_param());
  return {
      {.id = "workbench.create",
       .method = Method::post,
       .path = "/api/v1/workbenches/{name}",
       .command = "workbench create",
       .tier = Tier::mutating,
       .action = "launch:write",
       .summary = "Start a Jupyter server on a shape",
       .detail =
           "A profile fills what is not given; every flag that is given wins over it, and the "
           "answer says which did. --dry-run shows what will be run, where and why. The server "
           "answers on its own machine only, behind a token of its own: exa workbench open NAME.",
       .params = joined({{bench()},
                         shape_params(gpu, false),
                         {{.name = "port",
                           .in = In::body,
                           .kind = Kind::integer,
                           .flag = "--port",
                           .help = "first port to try (default 8888)",
                           .least = 1024,
                           .most = 65'000},
                          {.name = "volume",
                           .in = In::body,
                           .flag = "--volume",
                           .help = "size of its own disk on Kubernetes or Compose, e.g. 20Gi"},
                          {.name = "mount",
                           .in = In::body,
                           .flag = "--mount",
                           .help = "where the disk is",
                           .fallback = "/home/jovyan"},
                          {.name = "command",
                           .in = In::body,
                           .kind = Kind::words,
                           .help = "after --: what to run instead of Jupyter"}},
                         target_params()}),
       .handler = create,
       .reply = "Launch",
       .is_long = true,
       .creates = true,
       .fails_with = {Code::inapplicable},
       .check = check_launch,
       .examples = {"exa workbench create nb --hardware-profile small --dry-run"}},
      {.id = "workbench.list",
       .path = "/api/v1/workbenches",
       .command = "workbench list",
       .action = "launch:read",
       .summary = "List workbenches, the newest first, as they stood when last seen",
       .params = {limit_param(), cursor_param(), project_param()},
       .handler = list,
       .reply = "LaunchList",
       .examples = {"exa workbench list"}},
      {.id = "workbench.show",
       .path = "/api/v1/workbenches/{name}",
       .command = "workbench show",
       .action = "launch:read",
       .summary = "Show a workbench as it stands now",
       .params = {bench(), project_param()},
       .handler = show,
       .reply = "Launch",
       .examples = {"exa workbench show nb"}},
      {.id = "workbench.start",
       .method = Method::post,
       .path = "/api/v1/workbenches/{name}/start",
       .command = "workbench start",
       .tier = Tier::mutating,
       .action = "launch:write",
       .summary = "Start a workbench that has ended, on the shape that it has",
       .detail = "The shape is its own: a profile that was changed or deleted since is not asked.",
       .params = {bench(), project_param(), dry_run_param()},
       .handler = start,
       .reply = "Launch",
       .is_long = true,
       .examples = {"exa workbench start nb"}},
      {.id = "workbench.stop",
       .method = Method::post,
       .path = "/api/v1/workbenches/{name}/stop",
       .command = "workbench stop",
       .tier = Tier::mutating,
       .action = "launch:write",
       .summary = "Stop a workbench; it can be started again",
       .params = {bench(), project_param(), dry_run_param()},
       .handler = stop,
       .reply = "Launch",
       .is_long = true,
       .examples = {"exa workbench stop nb"}},
      {.id = "workbench.resize",
       .method = Method::post,
       .path = "/api/v1/workbenches/{name}/resize",
       .command = "workbench resize",
       .tier = Tier::mutating,
       .action = "launch:write",
       .summary = "Start a workbench again on another shape",
       .detail = "To another profile, another version of it, or other amounts. Files stay. A shape "
                 "that is refused leaves it as it was.",
       .params = std::move(resized),
       .handler = resize,
       .reply = "Launch",
       .is_long = true,
       .fails_with = {Code::inapplicable},
       .check = check_launch,
       .examples = {"exa workbench resize nb --memory-gb 64"}},
      {.id = "workbench.delete",
       .method = Method::del,
       .path = "/api/v1/workbenches/{name}",
       .command = "workbench delete",
       .tier = Tier::destructive,
       .action = "launch:write",
       .summary = "End a workbench and forget it; its files stay where they are",
       .params = {bench(), project_param(), dry_run_param()},
       .handler = remove,
       .reply = "DeletedLaunch",
       .is_long = true,
       .examples = {"exa workbench delete nb --yes"}},
      {.id = "workbench.logs",
       .path = "/api/v1/workbenches/{name}/logs",
       .command = "workbench logs",
       .action = "launch:read",
       .summary = "Show what a workbench printed last",
       .params = {bench(), lines_param(), project_param()},
       .handler = logs,
       .reply = "LaunchLogs",
       .examples = {"exa workbench logs nb"}},
      {.id = "workbench.open",
       .method = Method::post,
       .path = "/api/v1/workbenches/{name}/open",
       .command = "workbench open",
       .tier = Tier::mutating,
       .action = "launch:write",
       .summary = "Show the address of a workbench, with the token that opens it",
       .detail = "Waits up to a minute until it answers. The log keeps that it was opened, and by "
                 "whom; the token is kept nowhere.",
       .params = {bench(), project_param(), dry_run_param()},
       .handler = open,
       .reply = "WorkbenchAddress",
       .is_long = true,
       .examples = {"exa workbench open nb"}},
  };
}

}  // namespace exa
