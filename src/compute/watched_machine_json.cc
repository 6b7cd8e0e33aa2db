// A watched machine as it is stored.
#include <fmt/format.h>

#include "base/json_or_null.h"
#include "compute/machine_watch.h"
#include "base/object_reader.h"

namespace exa {
namespace {

constexpr size_t kLongestText = 4'096;
constexpr size_t kMostRows = 1'000;

void read_report(const json::value& value, const std::string& where, MachineReport& into,
                 std::vector<Problem>& problems) {
  auto report = machine_report_from_json(value, where);
  if (report)
    into = std::move(*report);
  else
    problems.insert(problems.end(), report.error().problems.begin(), report.error().problems.end());
}

void read_texts(const ObjectReader& fields, std::string_view key, std::vector<std::string>& into,
                std::vector<Problem>& problems) {
  const json::array* rows = fields.list(key, kMostRows);
  if (rows == nullptr) return;
  for (size_t i = 0; i < rows->size(); ++i) {
    const std::string wrong = wrong_text((*rows)[i], kLongestText);
    if (wrong.empty())
      into.emplace_back((*rows)[i].get_string());
    else
      problems.push_back({fmt::format("{}/{}", fields.at(key), i), wrong, ""});
  }
}

void read_times(const ObjectReader& fields, std::string_view key, std::vector<Time>& into,
                std::vector<Problem>& problems) {
  std::vector<std::string> texts;
  read_texts(fields, key, texts, problems);
  for (const std::string& text : texts) {
    const auto time = parse_rfc3339(text);
    if (time)
      into.push_back(*time);
    else
      fields.say(key, time.error().message);
  }
}

}  // namespace

json::object to_json(const WatchedMachine& machine) {
  json::array changes;
  for (const Time at : machine.health_changes) changes.emplace_back(format_rfc3339(at));
  return {
      {"source", machine.source},
      {"report", to_json(machine.report)},
      {"heard_at", time_or_null(machine.heard_at)},
      {"health_changes", std::move(changes)},
      {"differs", machine.differs ? json::value(to_json(*machine.differs)) : nullptr},
      {"differences", json::array(machine.differences.begin(), machine.differences.end())},
      {"refused", text_or_null(machine.refused)},
      {"refused_at", machine.refused.empty() ? json::value(nullptr)
                                             : json::value(format_rfc3339(machine.refused_at))}};
}

Result<WatchedMachine> watched_machine_from_json(const json::value& stored) {
  std::vector<Problem> problems;
  const ObjectReader fields(stored, "", problems);
  WatchedMachine machine;
  fields.text("source", kLongestText, machine.source);
  if (const json::value* report = fields.given("report"))
    read_report(*report, fields.at("report"), machine.report, problems);
  if (Time at; fields.time("heard_at", at)) machine.heard_at = at;
  read_times(fields, "health_changes", machine.health_changes, problems);
  if (const json::value* differs = fields.given("differs"))
    read_report(*differs, fields.at("differs"), machine.differs.emplace(), problems);
  read_texts(fields, "differences", machine.differences, problems);
  fields.text("refused", kLongestText, machine.refused);
  fields.time("refused_at", machine.refused_at);
  fields.require({"source", "report"});
  fields.refuse_others({"source", "report", "heard_at", "health_changes", "differs", "differences",
                        "refused", "refused_at"},
                       "a watched machine");
  if (!problems.empty()) return fail(invalid("stored machine", std::move(problems)));
  return machine;
}

}  // namespace exa
