#include "cli/doctor.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "api/router.h"
#include "base/plural.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/connect.h"

namespace exa {
namespace {

struct Finding {
  std::string check;
  std::string result;  // ok, note, broken
  std::string detail;
  std::string next;
};

class Examination {
 public:
  explicit Examination(const LocalCall& call)
      : call_(call), connector_(call.environment), where_(call.invocation.globals.where) {}

  std::vector<Finding> all() {
    if (where_.server.empty()) folder();
    auto opened = connector_(where_);
    if (!opened) {
      broken("store", opened.error());
      return std::move(findings_);
    }
    send_ = *std::move(opened);
    // who may not look finds nothing broken
    if (const auto who = ask("auth.status"); !who && who.error().code == Code::unauthenticated) {
      refused_ = who.error();
      return std::move(findings_);
    }
    store();
    audit();
    clusters();
    tools();
    return std::move(findings_);
  }

  // Why nothing could be looked at.
  const std::optional<Error>& refused() const { return refused_; }

 private:
  void add(std::string check, std::string result, std::string detail, std::string next = "") {
    findings_.push_back({std::move(check), std::move(result), std::move(detail), std::move(next)});
  }
  void broken(std::string check, const Error& error) {
    add(std::move(check), "broken", error.message, error.next);
  }

  Result<json::value> ask(std::string_view id) {
    const Reply reply = send_(build_request(*find_route(id), {}));
    if (reply.status >= 400) return fail(error_of(reply));
    return parse_json(reply.body, "reply", tool_output_limits());
  }

  void folder() {
    const auto home = home_of(where_, lookup_in(call_.environment));
    if (!home) return broken("data folder", home.error());
    const std::filesystem::path* path = &home->folder;
    struct stat status {};
    if (::stat(path->c_str(), &status) != 0)
      return add("data folder", "ok", path->string() + " is made by the first change");
    if ((status.st_mode & 077) != 0) {
      add("data folder", "note",
          fmt::format("{} may be entered by others (mode {:04o})", path->string(),
                      status.st_mode & 07777),
          "chmod 700 " + path->string());
    } else {
      add("data folder", "ok", path->string());
    }
    space(*path);
    server(*path);
  }

  // What an audit log needs that must go on when everything else is full.
  void space(const std::filesystem::path& path) {
    constexpr uint64_t kReserve = uint64_t{64} << 20;
    struct statvfs disk {};
    if (::statvfs(path.c_str(), &disk) != 0) return;
    const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
    const std::string detail = fmt::format("{} MiB are free", free >> 20);
    if (free < kReserve)
      add("disk", "broken", detail + "; changes are refused once there is no room", "df -h");
    else
      add("disk", "ok", detail);
  }

  void server(const std::filesystem::path& path) {
    const auto socket = socket_in(path);
    std::error_code unknown;
    if (!std::filesystem::exists(socket, unknown))
      return add("server", "ok", "none runs on this folder; commands open it themselves");
    if (listens_on(socket)) return add("server", "ok", "one answers at " + socket.string());
    add("server", "note", "one that was killed left " + socket.string(),
        "the next exa serve removes it");
  }

  void store() {
    const auto projects = ask("project.list");
    if (!projects) return broken("store", projects.error());
    add("store", "ok",
        counted(static_cast<int64_t>(find(*projects, "items")->as_array().size()), "project"));
  }

  void audit() {
    const auto verdict = ask("audit.verify");
    if (!verdict) return broken("audit log", verdict.error());
    const json::value* ok = find(*verdict, "ok");
    const bool good = ok != nullptr && ok->is_bool() && ok->get_bool();
    add("audit log", good ? "ok" : "broken", std::string(text_or(*verdict, "sentence", "")),
        good ? "" : "exa audit verify");
  }

  void clusters() {
    const auto list = ask("cluster.list");
    if (!list) return broken("clusters", list.error());
    for (const json::value& cluster : find(*list, "items")->as_array()) {
      const std::string name(text_or(cluster, "name", ""));
      const json::value* failure = find(cluster, "last_failure");
      if (failure == nullptr || failure->is_null()) continue;
      add("cluster " + name, "broken", std::string(text_or(*failure, "message", "")),
          "exa cluster discover " + name);
    }
    add("clusters", "ok",
        counted(static_cast<int64_t>(find(*list, "items")->as_array().size()), "cluster") +
            " known");
  }

  // What discovery and launches on this machine could use. Missing ones are no fault.
  void tools() {
    std::vector<std::string> there;
    for (const char* tool : {"ssh", "scontrol", "flux", "kubectl", "nvidia-smi", "rocm-smi"})
      if (find_program(tool)) there.emplace_back(tool);
    add("tools", "ok", there.empty() ? "none of a scheduler's here" : join(there, ", "));
  }

  const LocalCall& call_;
  Connector connector_;
  const Where& where_;
  Send send_;
  std::optional<Error> refused_;
  std::vector<Finding> findings_;
};

json::object finding_json(const Finding& finding) {
  return {{"name", finding.check},
          {"result", finding.result},
          {"detail", finding.detail},
          {"next", finding.next.empty() ? json::value(nullptr) : json::value(finding.next)}};
}

}  // namespace

Route doctor_row() {
  return {.id = "local.doctor",
          .command = "doctor",
          .summary = "Look for what is broken, or could be better",
          .detail =
              "The data folder, the store, the audit log, the clusters and a running server; "
              "with --server, what that one says. Exit code 1 when something is broken.",
          .examples = {"exa doctor"}};
}

Result<LocalText> doctor(const LocalCall& call) {
  json::array items;
  bool broken = false;
  Examination examination(call);
  const std::vector<Finding> findings = examination.all();
  if (examination.refused()) return fail(*examination.refused());
  for (const Finding& finding : findings) {
    broken = broken || finding.result == "broken";
    items.emplace_back(finding_json(finding));
  }
  EXA_ASSIGN(std::string text,
             in_format(call, json::object{{"items", std::move(items)}, {"next_cursor", nullptr}}));
  return LocalText(std::move(text), broken ? 1 : 0);
}

}  // namespace exa
