#include "cli/agent.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "api/router.h"
#include "audit/digest.h"
#include "base/text.h"
#include "cli/connect.h"
#include "cli/errors.h"
#include "discover/palette.h"
#include "discover/readers.h"

namespace exa {
namespace {

constexpr Duration kLongestWait = minutes(5);

struct AgentSettings {
  std::string source;
  std::string id;
  std::string address;
  Tags tags;
  std::optional<Duration> interval;  // nullopt: what the server says
  bool once = false;
};

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

Result<AgentSettings> settings_of(const LocalCall& call) {
  AgentSettings settings;
  std::vector<Problem> problems;
  for (const auto& [param, text] : call.invocation.values) {
    if (param->name != "tag") continue;
    auto tag = parse_tag(text);
    if (tag)
      settings.tags.push_back(*std::move(tag));
    else
      problems.push_back({"--tag", tag.error().message, ""});
  }
  std::ranges::sort(settings.tags);
  settings.source = value_of(call, "source");
  if (settings.source.empty())
    problems.push_back({"--source", "is missing: exa machine source add NAME --kind agent", ""});
  settings.once = value_of(call, "once") == "true";
  settings.address = value_of(call, "address");
  settings.id = value_of(call, "id");
  if (settings.id.empty()) settings.id = machine_id_of(first_line("/etc/machine-id"));
  if (const auto checked = check_machine_id(settings.id); !checked)
    problems.push_back({"--id", checked.error().message, ""});
  if (const std::string text = value_of(call, "interval"); !text.empty()) {
    const auto interval = parse_duration(text);
    if (!interval || *interval < seconds(1))
      problems.push_back({"--interval", "is at least 1s, e.g. 30s", ""});
    else
      settings.interval = *interval;
  }
  if (!problems.empty()) return fail(invalid("agent", std::move(problems)));
  return settings;
}

// This machine as it is now; unhealthy with the reason where it cannot be looked at.
MachineReport report_now(const AgentSettings& settings, const Clock& clock) {
  ClusterAddress here;
  MachineReport report;
  const auto capture = probe(here, clock);
  const auto inventory =
      capture ? read_capture(*capture) : Result<Inventory>(fail(capture.error()));
  utsname system{};
  const bool known = uname(&system) == 0;
  if (inventory) {
    report = report_of_host(*inventory, known ? system.machine : "");
  } else {
    report.healthy = false;
    report.reason = inventory.error().message;
  }
  const Time now = clock();
  report.id = settings.id;
  report.address = settings.address.empty() && known ? system.nodename : settings.address;
  report.reported_at = now;
  report.sequence = now.micros;  // rises over restarts, too
  report.tags = settings.tags;
  return report;
}

Reply send_report(const Send& send, const AgentSettings& settings, const MachineReport& report) {
  const json::object args{{"source", settings.source}, {"report", to_text(to_json(report))}};
  return send(build_request(*find_route("machine.report"), args));
}

void wait_for(Duration time) {
  std::this_thread::sleep_for(std::chrono::microseconds(time.micros));
}

// A refusal that another try would meet again: the agent ends and says why.
bool is_final(const Error& error) {
  switch (error.code) {
    case Code::unauthenticated:
    case Code::forbidden:
    case Code::not_found:
    case Code::conflict:
    case Code::usage:
      return true;
    default:
      return false;
  }
}

Duration interval_in(const Reply& reply) {
  const auto body = parse_json(reply.body, "reply");
  const auto told =
      body ? parse_duration(text_or(*body, "interval", "30s")) : Result<Duration>(seconds(30));
  return told.value_or(seconds(30));
}

}  // namespace

std::string machine_id_of(std::string_view machine_id_file) {
  return "edge-" + sha256_hex(fmt::format("exa agent {}", machine_id_file)).substr(0, 32);
}

MachineReport report_of_host(const Inventory& inventory, std::string_view machine) {
  MachineReport report;
  if (inventory.nodes.empty()) {
    report.healthy = false;
    report.reason = "nothing could be read of this machine";
    return report;
  }
  report = machine_of_node("here", inventory.nodes.front(), Time{});
  for (const CardSet& cards : inventory.nodes.front().cards) {
    if (cards.remark.empty()) continue;
    report.healthy = false;
    report.reason += fmt::format("{}{}: {}", report.reason.empty() ? "" : "; ",
                                 cards.model.empty() ? cards.reported : cards.model, cards.remark);
  }
  if (machine == "x86_64")
    report.architecture = "AMD64";
  else if (machine == "aarch64")
    report.architecture = "ARM64";
  else
    report.architecture = machine;
  return report;
}

Route agent_row() {
  return {
      .id = "local.agent",
      .command = "agent",
      .tier = Tier::mutating,
      .summary = "Report this machine to a server, again and again",
      .detail =
          "What the agent detects wins over tags; tags fill what it cannot detect. A "
          "server that does not answer is tried again, ever more seldom, for as long as "
          "it takes. It needs a token with the verb machine:report and no other.",
      .params =
          {{.name = "source",
            .flag = "--source",
            .help = "source of agents that this machine belongs to"},
           {.name = "tag",
            .kind = Kind::words,
            .flag = "--tag",
            .help = "KEY=VALUE, e.g. palette.ai=true; may be repeated"},
           {.name = "id", .flag = "--id", .help = "id (default: made of /etc/machine-id)"},
           {.name = "address",
            .flag = "--address",
            .help = "address that it is provisioned at (default: its host name)"},
           {.name = "interval",
            .kind = Kind::duration,
            .flag = "--interval",
            .help = "how often (default: what the server says)"},
           {.name = "once", .kind = Kind::flag, .flag = "--once", .help = "report once and end"}},
      .examples = {"exa agent --source edge --tag palette.ai=true --once"},
      .changes = "what is known of this machine; reports stand in no audit log"};
}

Result<LocalText> agent(const LocalCall& call) {
  EXA_ASSIGN(const AgentSettings settings, settings_of(call));
  Duration wait = seconds(1);
  bool silent = false;  // the last try failed, and that was said
  for (;;) {
    // anew each time: the server may have come back elsewhere, or the token be another
    Connector connector(call.environment);
    const auto send = connector(call.invocation.globals.where);
    const auto reply = send ? Result<Reply>(send_report(
                                  *send, settings, report_now(settings, call.environment.clock)))
                            : Result<Reply>(fail(send.error()));
    if (reply && reply->status < 400) {
      if (settings.once) return LocalText(reply->body);
      if (silent) call.environment.err("it is heard again\n");
      silent = false;
      wait = seconds(1);
      wait_for(settings.interval.value_or(interval_in(*reply)));
      continue;
    }
    const Error error = reply ? error_of(*reply) : reply.error();
    if (settings.once || is_final(error)) return fail(error);
    if (!silent) call.environment.err(fmt::format("not heard: {}; trying again\n", error.message));
    silent = true;
    wait_for(wait);
    wait = std::min(Duration{wait.micros * 2}, kLongestWait);
  }
}

}  // namespace exa
