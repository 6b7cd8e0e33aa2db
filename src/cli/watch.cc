#include "cli/watch.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "api/router.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/connect.h"
#include "cli/errors.h"

namespace exa {
namespace {

constexpr auto kLook = std::chrono::seconds(1);

std::string line_of(const json::value& event, Format format) {
  if (format != Format::table && format != Format::wide) return to_text(event) + "\n";
  std::string line =
      fmt::format("{}  {}  {}  {}", text_or(event, "time", ""), text_or(event, "action", ""),
                  text_or(event, "name", ""), text_or(event, "actor", ""));
  const json::value* changes = find(event, "status_changes");
  if (changes != nullptr && changes->is_array()) {
    for (const json::value& change : changes->get_array()) {
      line += fmt::format("\n    {} on {}: {} -> {}", text_or(change, "name", ""),
                          text_or(change, "cluster", ""), text_or(change, "from_status", ""),
                          text_or(change, "to_status", ""));
    }
  }
  std::string shown;
  for (const std::string_view part : split(line, '\n')) shown += printable(part) + "\n";
  return shown;
}

}  // namespace

Route watch_row() {
  return {.id = "local.watch",
          .command = "watch",
          .summary = "Print what changes as it changes, until it is interrupted",
          .detail =
              "From now on, or after a revision that you have seen. With -o json each event is a "
              "line of JSON. Programs take GET /api/v1/watch, which is the same as "
              "server-sent events.",
          .params = {{.name = "since",
                      .kind = Kind::integer,
                      .flag = "--since",
                      .help = "the revision that you have seen already"},
                     {.name = "count",
                      .kind = Kind::integer,
                      .flag = "--count",
                      .help = "end after so many"}},
          .examples = {"exa watch --since 120"}};
}

Result<LocalText> watch(const LocalCall& call) {
  Connector connector(call.environment);
  EXA_ASSIGN(const Send send, connector(call.invocation.globals.where));
  const Route& events = *find_route("event.list");
  json::object args;
  if (const std::string since = value_of(call, "since"); !since.empty()) args["since"] = since;
  const std::string wanted = value_of(call, "count");
  int64_t left = INT64_MAX;
  if (!wanted.empty()) {
    EXA_ASSIGN(left, parse_count(wanted, "--count"));
  }
  while (left > 0) {
    const Reply reply = send(build_request(events, args));
    if (reply.status >= 400) return fail(error_of(reply));
    EXA_ASSIGN(const json::value body, parse_json(reply.body, "reply", tool_output_limits()));
    const json::array& items = body.at("items").as_array();
    for (const json::value& event : items) {
      if (left-- <= 0) break;
      const Written written = call.environment.out(line_of(event, call.invocation.globals.format));
      if (written == Written::failed) return fail(unwritten());
      if (written == Written::reader_gone) return LocalText("");
    }
    args["since"] = body.at("revision");
    if (items.empty()) std::this_thread::sleep_for(kLook);
  }
  return LocalText("");
}

}  // namespace exa
