// A small route table and an environment of strings, for the tests of this folder.
#pragma once

#include <map>

#include <fmt/format.h>

#include "api/router.h"
#include "cli/environment.h"

namespace exa::testing_cli {

inline Param project() {
  return {.name = "project",
          .flag = "--project",
          .help = "the project",
          .fallback = "default",
          .completes = "project"};
}
inline Param dry_run() {
  return {.name = "dry_run", .kind = Kind::flag, .flag = "--dry-run", .help = "change nothing"};
}
inline Param profile() {
  return {.name = "name",
          .in = In::path,
          .help = "name of the profile",
          .required = true,
          .completes = "profile"};
}

inline const std::vector<Route>& table() {
  static const std::vector<Route> rows = {
      {.id = "hardware_profile.set",
       .method = Method::post,
       .path = "/api/v1/hardware-profiles/{name}/versions",
       .command = "hardware profile set",
       .tier = Tier::mutating,
       .action = "hardware_profile:write",
       .summary = "Create the next version",
       .detail = "Counts are per node. It's never changed.",
       .params =
           {profile(),
            {.name = "accelerator_family",
             .in = In::body,
             .kind = Kind::choice,
             .flag = "--accelerator-family",
             .help = "family",
             .required = true,
             .choices = {"nvidia", "amd", "cpu"}},
            {.name = "gpu_count",
             .in = In::body,
             .kind = Kind::integer,
             .flag = "--gpu",
             .help = "accelerators per node"},
            {.name = "cpu",
             .in = In::body,
             .kind = Kind::decimal,
             .flag = "--cpu",
             .help = "cores"},
            {.name = "applicability",
             .in = In::body,
             .kind = Kind::csv,
             .flag = "--applicability",
             .help = "what for",
             .choices = {"workbench", "training", "serving", "any"}},
            {.name = "description", .in = In::body, .flag = "--description", .help = "what it is"},
            project(),
            dry_run()},
       .examples = {"exa hardware profile set small --accelerator-family cpu"}},
      {.id = "hardware_profile.list",
       .path = "/api/v1/hardware-profiles",
       .command = "hardware profile list",
       .action = "hardware_profile:read",
       .summary = "List profiles",
       .params = {project()}},
      {.id = "hardware_profile.show",
       .path = "/api/v1/hardware-profiles/{name}",
       .command = "hardware profile show",
       .action = "hardware_profile:read",
       .summary = "Show a profile",
       .params = {profile(),
                  {.name = "version", .kind = Kind::integer, .flag = "--version", .help = "number"},
                  project()}},
      {.id = "hardware_profile.resolve",
       .method = Method::post,
       .path = "/api/v1/hardware-profiles/{name}/resolution",
       .command = "hardware profile resolve",
       .action = "hardware_profile:read",
       .summary = "Check a profile",
       .params = {profile(),
                  {.name = "cluster", .flag = "--cluster", .help = "where", .completes = "cluster"},
                  {.name = "fail_on",
                   .kind = Kind::csv,
                   .flag = "--fail-on",
                   .help = "exit with 10 on these",
                   .choices = {"unchecked", "unresolvable"}}}},
      {.id = "hardware_profile.label",
       .method = Method::put,
       .path = "/api/v1/hardware-profiles/{name}/labels/{label}",
       .command = "hardware profile label",
       .tier = Tier::mutating,
       .action = "hardware_profile:write",
       .summary = "Point a label at a version",
       .params = {profile(),
                  {.name = "label",
                   .in = In::path,
                   .help = "the label",
                   .required = true,
                   .completes = "label"},
                  {.name = "version",
                   .in = In::body,
                   .kind = Kind::integer,
                   .flag = "--version",
                   .help = "the version",
                   .completes = "version"},
                  project()}},
      {.id = "hardware_profile.history",
       .path = "/api/v1/hardware-profiles/{name}/versions",
       .command = "hardware profile history",
       .action = "hardware_profile:read",
       .summary = "Show every version",
       .params = {profile(), project()}},
      {.id = "hardware_profile.delete",
       .method = Method::del,
       .path = "/api/v1/hardware-profiles/{name}",
       .command = "hardware profile delete",
       .tier = Tier::destructive,
       .action = "hardware_profile:delete",
       .summary = "Delete a profile",
       .params = {profile(), project(), dry_run()}},
      {.id = "cluster.list",
       .path = "/api/v1/clusters",
       .command = "cluster list",
       .action = "cluster:read",
       .summary = "List clusters"},
      {.id = "cluster.add",
       .method = Method::post,
       .path = "/api/v1/clusters/{name}",
       .command = "cluster add",
       .tier = Tier::mutating,
       .action = "cluster:write",
       .summary = "Register a cluster",
       .params = {{.name = "name", .in = In::path, .help = "name", .required = true},
                  {.name = "token_file",
                   .in = In::body,
                   .kind = Kind::path,
                   .flag = "--token-file",
                   .help = "file with a token"}}},
      {.id = "cluster.discover",
       .method = Method::post,
       .path = "/api/v1/clusters/{name}/snapshots",
       .command = "cluster discover",
       .tier = Tier::mutating,
       .action = "cluster:discover",
       .summary = "Look at a cluster",
       .params = {{.name = "name",
                   .in = In::path,
                   .help = "name",
                   .required = true,
                   .completes = "cluster"},
                  {.name = "from",
                   .in = In::body,
                   .kind = Kind::file,
                   .flag = "--from",
                   .help = "saved output"},
                  dry_run()}},
      {.id = "project.list",
       .path = "/api/v1/projects",
       .command = "project list",
       .action = "project:read",
       .summary = "List projects"},
      {.id = "api.only",
       .path = "/api/v1/hidden",
       .action = "hidden:read",
       .summary = "No command"},
  };
  return rows;
}

// Runs a command line against canned replies and keeps everything that it did.
struct Shell {
  std::string out, err, asked;
  std::vector<Request> requests;
  std::vector<std::string> folders;      // each connect
  std::map<std::string, Reply> replies;  // by "METHOD path"
  std::map<std::string, std::string> files, variables;
  std::optional<std::string> typed;  // what a person answers
  bool terminal = false;
  Written written = Written::all;
  size_t columns = 0;

  Reply answer(const Request& request) {
    requests.push_back(request);
    const auto found = replies.find(fmt::format("{} {}", name(request.method), request.path));
    if (found != replies.end()) return found->second;
    Reply reply;
    reply.body = "{}\n";
    return reply;
  }

  int run(const std::vector<std::string>& words) {
    out.clear();
    err.clear();
    Environment environment;
    environment.out = [&](std::string_view text) {
      out += text;
      return written;
    };
    environment.err = [&](std::string_view text) { err += text; };
    environment.ask = [&](std::string_view question) {
      asked = question;
      return typed;
    };
    environment.read_file = [&](const std::string& path, size_t) -> Result<std::string> {
      if (files.contains(path)) return files[path];
      return fail(Code::invalid_input, path + " cannot be read: No such file or directory");
    };
    environment.write_file = [&](const std::string& path,
                                 std::string_view content) -> Result<void> {
      files[path] = content;
      return {};
    };
    environment.variable = [&](const char* key) -> std::optional<std::string> {
      const auto found = variables.find(key);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    environment.working_folder = [] { return std::string("/home/ada/site"); };
    environment.clock = [] { return parse_rfc3339("2026-11-30T12:00:00Z").value(); };
    environment.in_is_terminal = environment.out_is_terminal = environment.err_is_terminal =
        terminal;
    environment.terminal_columns = columns;
    const Connect connect = [&](const DataSource& source) -> Result<Send> {
      folders.push_back(source.folder);
      return Send([&](const Request& request) { return answer(request); });
    };
    return run_cli(words, table(), environment, connect);
  }
};

inline Reply ok(std::string body) {
  Reply reply;
  reply.body = std::move(body);
  return reply;
}

}  // namespace exa::testing_cli
