// Reports and machines as JSON: stored, sent by sources, shown to people.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/object_reader.h"
#include "base/text.h"
#include "compute/machine.h"

namespace exa {
namespace {

constexpr size_t kLongestName = 253;
constexpr size_t kLongestText = 1'024;
constexpr size_t kMostTags = 256;
constexpr size_t kMostGpuRows = 64;

// --- reading

void read_gpus(const ObjectReader& fields, std::vector<Problem>& problems, MachineReport& report) {
  const json::array* rows = fields.list("gpus", kMostGpuRows);
  if (rows == nullptr) return;
  report.gpus.emplace();
  for (size_t i = 0; i < rows->size(); ++i) {
    const ObjectReader row((*rows)[i], fmt::format("{}/{}", fields.at("gpus"), i), problems);
    GpuReport gpu;
    row.text("family", kLongestName, gpu.family);
    row.count("count", gpu.count);
    row.count("memory_bytes", gpu.memory_bytes);
    row.require({"count"});
    row.refuse_others({"family", "count", "memory_bytes"}, "GPUs of a report");
    report.gpus->push_back(std::move(gpu));
  }
}

// YAML and JSON make a boolean of `true` and a number of `8`; a tag is text.
std::optional<std::string> tag_value(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_bool() || value.is_int64() || value.is_uint64()) return to_text(value);
  return std::nullopt;
}

class TagCollector {
 public:
  TagCollector(const ObjectReader& fields, std::vector<Problem>& problems)
      : where_(fields.at("tags")), problems_(problems) {}

  void object(const json::object& tags) {
    for (const auto& member : tags) {
      const std::string where = pointer(where_, member.key());
      const auto value = tag_value(member.value());
      if (value)
        add(where, member.key(), *value);
      else
        say(where, "must be a text, a whole number, true or false");
    }
  }

  void list(const json::array& tags) {
    for (size_t i = 0; i < tags.size(); ++i) {
      const std::string where = fmt::format("{}/{}", where_, i);
      const std::string wrong = wrong_text(tags[i], 2 * kLongestText);
      if (!wrong.empty()) {
        say(where, wrong);
        continue;
      }
      const auto tag = parse_tag(tags[i].get_string());
      if (tag)
        add(where, tag->first, tag->second);
      else
        say(where, tag.error().message);
    }
  }

  Tags sorted() {
    std::ranges::sort(tags_);
    return std::move(tags_);
  }

  void say(const std::string& where, std::string message) {
    problems_.push_back({where, std::move(message), ""});
  }

 private:
  void add(const std::string& where, std::string_view key, std::string_view value) {
    for (const std::string_view text : {key, value})
      if (std::string wrong = wrong_text(json::value(text), kLongestText); !wrong.empty())
        return say(where, std::move(wrong));
    if (key.empty()) return say(where, "has no name");
    if (std::ranges::find(tags_, key, &Tags::value_type::first) != tags_.end())
      return say(where, fmt::format("tag {} is there twice", key));
    tags_.emplace_back(key, value);
  }

  std::string where_;
  std::vector<Problem>& problems_;
  Tags tags_;
};

void read_tags_field(const ObjectReader& fields, std::vector<Problem>& problems,
                     MachineReport& report) {
  const json::value* given = fields.given("tags");
  if (given == nullptr) return;
  TagCollector collector(fields, problems);
  if (const json::object* object = given->if_object(); object && object->size() <= kMostTags)
    collector.object(*object);
  else if (const json::array* array = given->if_array(); array && array->size() <= kMostTags)
    collector.list(*array);
  else
    collector.say(fields.at("tags"),
                  fmt::format("must be an object or a list of at most {} tags", kMostTags));
  report.tags = collector.sorted();
}

void read_id(const ObjectReader& fields, MachineReport& report) {
  if (!fields.text("id", kLongestText, report.id)) return;
  if (const auto checked = check_machine_id(report.id); !checked)
    fields.say("id", checked.error().message);
}

// --- writing

json::object object_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  json::object object;
  for (const auto& [key, value] : pairs) object[key] = value;
  return object;
}

json::array array_of(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

json::value known_number(const Known<int64_t>& known) {
  if (!known.is_known()) return nullptr;
  return json::object{{"value", known.value}, {"from", name(known.from)}};
}

json::value known_family(const Known<GpuFamily>& known) {
  if (!known.is_known()) return nullptr;
  return json::object{{"value", known.value.shown}, {"from", name(known.from)}};
}

std::string_view role_of(const Machine& machine) {
  return machine.worker ? "worker" : machine.control_plane ? "control-plane" : "";
}

}  // namespace

json::object to_json(const MachineReport& report) {
  json::value gpus = nullptr;
  if (report.gpus) {
    json::array rows;
    for (const GpuReport& gpu : *report.gpus)
      rows.push_back(json::object{{"family", text_or_null(gpu.family)},
                                  {"count", gpu.count},
                                  {"memory_bytes", number_or_null(gpu.memory_bytes)}});
    gpus = std::move(rows);
  }
  return {{"id", report.id},
          {"reported_at", format_rfc3339(report.reported_at)},
          {"sequence", report.sequence},
          {"healthy", report.healthy},
          {"reason", text_or_null(report.reason)},
          {"address", text_or_null(report.address)},
          {"architecture", text_or_null(report.architecture)},
          {"cpus", number_or_null(report.cpus)},
          {"memory_bytes", number_or_null(report.memory_bytes)},
          {"gpus", std::move(gpus)},
          {"tags", object_of(report.tags)}};
}

Result<MachineReport> machine_report_from_json(const json::value& value, std::string_view where) {
  std::vector<Problem> problems;
  const ObjectReader fields(value, where, problems);
  MachineReport report;
  read_id(fields, report);
  fields.time("reported_at", report.reported_at);
  fields.count("sequence", report.sequence);
  fields.flag("healthy", report.healthy);
  fields.text("reason", kLongestText, report.reason);
  fields.text("address", kLongestName, report.address);
  fields.text("architecture", kLongestName, report.architecture);
  fields.count("cpus", report.cpus);
  fields.count("memory_bytes", report.memory_bytes);
  read_gpus(fields, problems, report);
  read_tags_field(fields, problems, report);
  fields.require({"id", "reported_at"});
  fields.refuse_others({"id", "reported_at", "sequence", "healthy", "reason", "address",
                        "architecture", "cpus", "memory_bytes", "gpus", "tags"},
                       "a machine's report");
  if (!problems.empty()) return fail(invalid("machine report", std::move(problems)));
  return report;
}

json::object to_json(const Machine& machine) {
  return {{"id", machine.id},
          {"address", machine.address},
          {"architecture", text_or_null(machine.architecture)},
          {"role", text_or_null(std::string(role_of(machine)))},
          {"tagged", machine.is_tagged},
          {"worker_tagged", machine.worker_tagged},
          {"cpus", known_number(machine.cpus)},
          {"memory_bytes", number_or_null(machine.memory_bytes)},
          {"gpus", known_number(machine.gpus)},
          {"gpu_family", known_family(machine.family)},
          {"gpu_memory_bytes", known_number(machine.gpu_memory_bytes)},
          {"resource_groups", object_of(machine.groups)},
          {"unfit", array_of(machine.unfit)},
          {"notes", array_of(machine.notes)}};
}

}  // namespace exa
