#include "discover/palette.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/yaml.h"
#include "discover/http.h"

namespace exa {
namespace {

constexpr std::string_view kKinds[] = {"folder", "http", "cluster", "agent"};
constexpr size_t kMostBytes = size_t{64} << 20;  // 10,000 machines are some 6 MB
constexpr std::string_view kPrefix = "palette.ai";
// Labels of Kubernetes that are tags of the document without its prefix.
constexpr std::array<std::string_view, 4> kPlainTags = {"gpus", "cpus", "gpu-memory", "gpu-family"};

ReadLimits inventory_limits() {
  ReadLimits limits = tool_output_limits();
  limits.max_bytes = kMostBytes;
  return limits;
}

// One sentence of all that is wrong with a report.
std::string why(const Error& error) {
  std::string text;
  for (const Problem& problem : error.problems)
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", problem.where, problem.message);
  return text.empty() ? error.message : text;
}

void read_one(const json::value& value, const std::string& place, Time now,
              MachineReading& reading) {
  json::value timed = value;
  // an inventory says how it is now
  if (timed.is_object() && !timed.get_object().contains("reported_at"))
    timed.get_object()["reported_at"] = format_rfc3339(now);
  auto report = machine_report_from_json(timed, "");
  if (!report) {
    reading.unread.push_back({place, why(report.error())});
    return;
  }
  reading.reports.push_back(*std::move(report));
}

void read_document(const json::value& document, std::string_view what, Time now,
                   MachineReading& reading) {
  const json::value* list = &document;
  if (const json::value* machines = find(document, "machines")) list = machines;
  if (!list->is_array()) return read_one(document, std::string(what), now, reading);
  size_t index = 0;
  for (const json::value& each : list->get_array())
    read_one(each, fmt::format("{}, machine {}", what, ++index), now, reading);
}

bool is_report_file(std::string_view file) {
  return file.ends_with(".json") || file.ends_with(".yaml") || file.ends_with(".yml");
}

Result<MachineReading> fetch(const MachineSource& source, Transport& files, Time now,
                             Progress& progress) {
  HttpRequest request;
  request.url = source.url;
  request.headers = {{"Accept", "application/json"}};
  request.ca.file = source.ca_file;
  request.max_body = kMostBytes;
  request.unwanted = [&] { return progress.cancelled(); };
  if (!source.token_file.empty()) {
    EXA_ASSIGN(std::string token, files.read_file(source.token_file));
    while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
    request.bearer = Secret(std::move(token));
  }
  EXA_ASSIGN(const HttpReply reply, http_send(request));
  if (reply.status != 200) {
    return fail(Code::probe_failed,
                fmt::format("{} answered {} instead of an inventory", source.url, reply.status));
  }
  return read_machine_inventory(reply.body, source.url, now);
}

// What was detected of a node's GPUs; nullopt where there may be some that nothing lists.
std::optional<std::vector<GpuReport>> gpus_of(const Node& node) {
  std::vector<GpuReport> gpus;
  for (const CardSet& cards : node.cards) {
    if (cards.family == Family::cpu) continue;
    if (!cards.physical) return std::nullopt;
    gpus.push_back(
        {cards.model.empty() ? cards.reported : cards.model, *cards.physical, cards.memory_bytes});
  }
  if (gpus.empty() && !node.devices_unread.empty()) return std::nullopt;
  return gpus;
}

bool is_tag(std::string_view label) {
  return label == kPrefix || label.starts_with("palette.ai/") ||
         label.starts_with("palette.ai.rg/") ||
         std::ranges::find(kPlainTags, label) != kPlainTags.end();
}

std::string architecture_of(const Node& node) {
  for (const auto& [key, value] : node.labels) {
    if (key != "kubernetes.io/arch") continue;
    std::string upper = value;
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return upper;
  }
  return "";
}

}  // namespace

std::string_view name(MachineSourceKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

std::optional<MachineSourceKind> find_machine_source_kind(std::string_view text) {
  const auto* found = std::ranges::find(kKinds, text);
  if (found == std::end(kKinds)) return std::nullopt;
  return static_cast<MachineSourceKind>(found - std::begin(kKinds));
}

Result<MachineReading> read_machine_inventory(std::string_view text, std::string_view what,
                                              Time now) {
  MachineReading reading;
  if (const auto start = text.find_first_not_of(" \t\r\n");
      start != std::string_view::npos && (text[start] == '{' || text[start] == '[')) {
    EXA_ASSIGN(const json::value document, parse_json(text, what, inventory_limits()));
    read_document(document, what, now, reading);
    return reading;
  }
  YamlLimits limits;
  limits.each = inventory_limits();
  limits.max_documents = 10'000;
  EXA_ASSIGN(const auto documents, parse_yaml(text, what, limits));
  for (const YamlDocument& document : documents) read_document(document.value, what, now, reading);
  return reading;
}

Result<MachineReading> read_machine_files(const std::string& path, Transport& transport, Time now) {
  const auto names = transport.list_folder(path);
  if (!names) {
    EXA_ASSIGN(const std::string text, transport.read_file(path));
    return read_machine_inventory(text, path, now);
  }
  MachineReading all;
  for (const std::string& name : *names) {
    if (!is_report_file(name)) continue;
    const std::string file = fmt::format("{}/{}", path, name);
    const auto text = transport.read_file(file);
    auto reading = text ? read_machine_inventory(*text, file, now)
                        : Result<MachineReading>(fail(text.error()));
    if (!reading) {
      all.unread.push_back({file, why(reading.error())});
      continue;
    }
    std::ranges::move(reading->reports, std::back_inserter(all.reports));
    std::ranges::move(reading->unread, std::back_inserter(all.unread));
  }
  return all;
}

Result<MachineReading> look_at_machines(const MachineSource& source, Time now, Progress& progress) {
  const auto files = local_transport(source.interval, [&] { return progress.cancelled(); });
  if (source.kind == MachineSourceKind::http) return fetch(source, *files, now, progress);
  return read_machine_files(source.path, *files, now);
}

MachineReport machine_of_node(std::string_view cluster, const Node& node, Time taken_at) {
  MachineReport report;
  report.id = fmt::format("{}.{}", cluster, node.name);
  report.reported_at = taken_at;
  report.healthy = node.usable();
  if (!report.healthy) {
    report.reason = fmt::format("{} ({})", name(node.health), node.state);
    if (!node.reason.empty()) report.reason += ": " + node.reason;
  }
  report.address = node.name;
  report.architecture = architecture_of(node);
  if (node.cpu_milli) report.cpus = *node.cpu_milli / 1000;
  report.memory_bytes = node.memory_bytes;
  report.gpus = gpus_of(node);
  for (const auto& [key, value] : node.labels)
    if (is_tag(key)) report.tags.emplace_back(key, value);
  return report;
}

void add_tags(MachineReport& report, const Tags& tags) {
  for (const auto& tag : tags) {
    const auto at = std::ranges::lower_bound(report.tags, tag.first, {},
                                             &std::pair<std::string, std::string>::first);
    if (at == report.tags.end() || at->first != tag.first) report.tags.insert(at, tag);
  }
}

json::object to_json(const MachineSource& source) {
  json::object out{{"name", source.name}, {"kind", name(source.kind)}};
  const std::pair<std::string_view, const std::string*> texts[] = {
      {"path", &source.path},
      {"url", &source.url},
      {"token_file", &source.token_file},
      {"ca_file", &source.ca_file},
      {"cluster", &source.cluster}};
  for (const auto& [key, value] : texts)
    if (!value->empty()) out[key] = *value;
  json::object tags;
  for (const auto& [key, value] : source.tags) tags[key] = value;
  out["tags"] = std::move(tags);
  out["interval"] = format_duration(source.interval);
  return out;
}

Result<MachineSource> machine_source_from_json(const json::object& stored) {
  MachineSource source;
  source.name = text_or(stored, "name", "");
  const auto kind = find_machine_source_kind(text_or(stored, "kind", ""));
  if (!kind) return fail(Code::store_damaged, "a stored machine source has no readable kind");
  source.kind = *kind;
  source.path = text_or(stored, "path", "");
  source.url = text_or(stored, "url", "");
  source.token_file = text_or(stored, "token_file", "");
  source.ca_file = text_or(stored, "ca_file", "");
  source.cluster = text_or(stored, "cluster", "");
  if (const json::value* tags = stored.if_contains("tags"); tags != nullptr && tags->is_object())
    for (const auto& tag : tags->get_object())
      if (tag.value().is_string())
        source.tags.emplace_back(tag.key(), std::string(tag.value().get_string()));
  std::ranges::sort(source.tags);
  EXA_ASSIGN(source.interval, parse_duration(text_or(stored, "interval", "30s")));
  return source;
}

}  // namespace exa
