// A dstack fleet or run: nodes and resources. Amounts are ranges there; a profile asks for their
// lower end.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"
#include "launch/vocabulary_table.h"
#include "launch/vocabulary_text.h"

namespace exa::vocabulary {
namespace {

// What a run of the type is used for; a fleet is for all of them.
struct Type {
  std::string_view name;
  Surface use;
};
constexpr Type kTypes[] = {{"dev-environment", Surface::workbench},
                           {"task", Surface::training},
                           {"service", Surface::serving},
                           {"fleet", Surface::any}};

struct Vendor {
  std::string_view name;
  Family family;
};
constexpr Vendor kVendors[] = {{"nvidia", Family::nvidia},
                               {"amd", Family::amd},
                               {"intel", Family::intel_gaudi},
                               {"google", Family::tpu},
                               {"tpu", Family::tpu}};

const Vendor* find_vendor(std::string_view name) {
  const auto* found = std::ranges::find(kVendors, lower(name), &Vendor::name);
  return found == std::end(kVendors) ? nullptr : found;
}

// Units' factors are 1024; a bare number counts GiB.
Result<int64_t> memory_of(std::string_view text) {
  const std::string unit =
      lower(text.substr(std::min(text.find_first_not_of("0123456789."), text.size())));
  const std::string_view amount = text.substr(0, text.size() - unit.size());
  if (unit.empty() || unit == "gb") return parse_gib(amount);
  if (unit == "mb" || unit == "tb")
    return parse_bytes_with_unit(fmt::format("{}{}iB", amount, unit[0]));
  return fail(
      Code::invalid_input,
      fmt::format("\"{}\" is not an amount of memory such as 32GB or 512MB", printable(text)));
}

// --- reading

using Parse = Result<int64_t> (*)(std::string_view);

// "8", "8..", "4..8", or {min: 4, max: 8}: the least, with a note where there is a most.
std::optional<int64_t> read_least(const Node& node, std::string_view text, Parse parse) {
  const size_t dots = text.find("..");
  const std::string_view least = trim(text.substr(0, dots));
  const std::string_view most = dots == text.npos ? "" : trim(text.substr(dots + 2));
  if (least.empty()) {
    node.note(fmt::format("at most {} is no amount that is asked for", printable(most)));
    return std::nullopt;
  }
  const auto amount = parse(least);
  if (!amount) {
    node.problem(amount.error().message);
    return std::nullopt;
  }
  if (!most.empty() && most != least)
    node.note(fmt::format("up to {} would do too; {} is what counts", printable(most), least));
  return *amount;
}

std::optional<int64_t> read_range(const Node& node, Parse parse) {
  if (!node) return std::nullopt;
  if (!node.value().is_object()) {
    const auto text = node.scalar();
    return text ? read_least(node, *text, parse) : std::nullopt;
  }
  const std::string least = node["min"].scalar().value_or("");
  const std::string most = node["max"].scalar().value_or("");
  return read_least(node, fmt::format("{}..{}", least, most), parse);
}

Result<int64_t> whole(std::string_view text) {
  return parse_count(text, "a whole number");
}
Result<int64_t> cores(std::string_view text) {
  EXA_ASSIGN(const int64_t count, parse_count(text, "cpu"));
  return count > INT64_MAX / 1000 ? INT64_MAX : count * 1000;
}

struct Gpu {
  std::string vendor;
  std::string name;
  std::string memory;
  std::string count = "1";
};

// "A100:80GB:2", in any order: a word is a name, a number with a unit memory, a number a count.
void read_gpu_text(const Node& node, std::string_view text, Gpu& gpu) {
  for (const std::string_view part : split(text, ':')) {
    const std::string_view token = trim(part);
    const bool has_letter = std::ranges::any_of(
        token, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
    if (token.empty())
      node.problem("a part of it is empty");
    else if (find_vendor(token) != nullptr)
      gpu.vendor = token;
    else if (token.find(',') != token.npos)
      node.problem("several models to choose from; a profile names one");
    else if (token[0] < '0' || token[0] > '9')
      gpu.name = token;
    else if (has_letter)
      gpu.memory = token;
    else
      gpu.count = token;
  }
}

void read_gpu_map(const Node& node, Gpu& gpu) {
  gpu.vendor = node["vendor"].scalar().value_or("");
  const Node name = node["name"];
  if (name && name.value().is_array()) {
    const auto names = name.elements();
    if (names.size() == 1) gpu.name = names.front().scalar().value_or("");
    if (names.size() > 1) name.problem("several models to choose from; a profile names one");
  } else {
    gpu.name = name.scalar().value_or("");
  }
  const auto range = [](const Node& value) {
    if (value && value.value().is_object())
      return fmt::format("{}..{}", value["min"].scalar().value_or(""),
                         value["max"].scalar().value_or(""));
    return value.scalar().value_or("");
  };
  gpu.memory = range(node["memory"]);
  if (node["count"]) gpu.count = range(node["count"]);
}

void say_model(const Node& node, const Gpu& gpu, Reading& reading) {
  std::string hint = gpu.name;
  const bool is_range = gpu.memory.find("..") != std::string::npos;
  if (!gpu.memory.empty() && (is_range || gpu.name.empty()))
    reading.note(node.where(),
                 fmt::format("memory {}: a profile names a model instead", printable(gpu.memory)));
  else if (!gpu.memory.empty())
    hint += "-" + gpu.memory;
  if (!hint.empty())
    reading.say("accelerator_model_hint", node.where()).accelerator_model_hint = hint;
}

void read_gpu(const Node& node, Reading& reading) {
  Gpu gpu;
  if (node.value().is_object())
    read_gpu_map(node, gpu);
  else if (const auto text = node.scalar())
    read_gpu_text(node, *text, gpu);
  const auto count = read_least(node, gpu.count, whole);
  if (count == 0) return reading.say_no_devices();
  const Vendor* vendor = find_vendor(gpu.vendor);
  if (!gpu.vendor.empty() && vendor == nullptr)
    return node.problem(
        fmt::format("{} is of no family that a profile may ask for", printable(gpu.vendor)));
  std::optional<Family> family = family_meant(gpu.name);
  if (vendor != nullptr) family = vendor->family;
  if (family)
    reading.say("accelerator_family", node.where()).accelerator_family = *family;
  else
    reading.leave_open("accelerator_family", node.where(), "nothing says whose the devices are");
  if (family == Family::tpu)
    return reading.leave_open("gpu_count", node.where(),
                              "how many chips a slice of TPUs has is in its name");
  say_model(node, gpu, reading);
  if (count) reading.say("gpu_count", node.where()).gpu_count = *count;
}

void read_cpu(const Node& node, Reading& reading) {
  std::optional<int64_t> milli;
  if (node && node.value().is_object()) {
    milli = node["count"] ? read_range(node["count"], cores) : read_range(node, cores);
  } else if (const auto text = node.scalar()) {
    const size_t colon = text->find(':');  // "arm:4"
    if (colon != text->npos) node.note("the architecture is no field of a profile");
    milli = read_least(node, std::string_view(*text).substr(colon + 1), cores);
  }
  if (milli) reading.say("cpu", node.where()).cpu_milli = *milli;
}

void read_type(const Node& type, Reading& reading) {
  const auto text = type.scalar();
  if (!text) return;
  const auto* known = std::ranges::find(kTypes, *text, &Type::name);
  if (known == std::end(kTypes))
    type.note("is used for nothing that a profile names");
  else if (known->use != Surface::any)
    reading.say("applicability", type.where()).applicability = {known->use};
}

// --- writing

struct Model {
  std::string name;
  std::string memory;
};

// A series, and the memory that sets apart the models that are meant, if that is all that does.
Model model_of(const Writing& writing) {
  const std::string& hint = writing.shape.accelerator_model_hint;
  const std::string series(series_meant(hint));
  if (hint.empty() || series.empty() || same_models(series, hint))
    return {series.empty() ? hint : series, ""};
  const int64_t memory = models_meant(hint).front()->sold_memory_bytes;
  Model model{series, fmt::format("{}GB", memory / kGiB)};
  if (same_models(fmt::format("{}-{}", model.name, model.memory), hint)) return model;
  writing.note("accelerator_model_hint",
               fmt::format("dstack names models {}, not their boards", series));
  return {series, ""};
}

std::optional<json::value> gpu_of(const Writing& writing) {
  const Shape& shape = writing.shape;
  const Family family = shape.accelerator_family;
  if (family == Family::cpu) return std::nullopt;
  note_without_words(writing,
                     {{"mig_profile", "dstack counts devices: whole ones are asked for"},
                      {"gpu_fraction", "dstack counts devices: whole ones are asked for"}});
  if (shape.gpu_count == 0 || family == Family::tpu) {
    const std::string_view why = shape.gpu_count == 0
                                     ? "no device is asked for"
                                     : "dstack names slices of TPUs, whose size is in the name";
    writing.note("accelerator_family", std::string(why));
    note_without_words(writing, {{"accelerator_model_hint", why}, {"gpu_count", why}});
    return std::nullopt;
  }
  const Model model = model_of(writing);
  json::object gpu;
  gpu["vendor"] = json::string(std::ranges::find(kVendors, family, &Vendor::family)->name);
  if (!model.name.empty()) gpu["name"] = model.name;
  if (!model.memory.empty()) gpu["memory"] = model.memory;
  gpu["count"] = shape.gpu_count;
  return gpu;
}

std::string memory_words(const Writing& writing) {
  const int64_t bytes = writing.shape.memory_bytes;
  const int64_t mib = (bytes + kMiB - 1) / kMiB;
  if (bytes % kMiB != 0)
    writing.note("memory_gb",
                 fmt::format("dstack counts in MB of 1024 KiB: {} are asked for", mib));
  return mib % 1024 == 0 ? fmt::format("{}GB..", mib / 1024) : fmt::format("{}MB..", mib);
}

const Type& type_of(const Writing& writing) {
  const auto& uses = writing.shape.applicability;
  const auto* found =
      std::ranges::find(kTypes, uses.size() == 1 ? uses[0] : Surface::any, &Type::use);
  if (uses.size() != 1) writing.note("applicability", "a run has one use: a fleet is written");
  return *found;
}

json::value& root_of(const Writing& writing, Source& target) {
  if (target.documents.empty()) {
    json::object& root = as_object(new_document(target));
    if (writing.is_new) root["type"] = json::string(type_of(writing).name);
    root["name"] = writing.name;
  }
  return target.documents.front().value;
}

void note_of_the_type(const Writing& writing, const json::value& root) {
  const std::string_view type = text_or(root, "type", "");
  if (!writing.is_new && writing.parts.applicability && !type.empty())
    writing.note("applicability", fmt::format("what is there is a {}, and stays one", type));
  if (writing.shape.nodes > 1 && (type == "service" || type == "dev-environment"))
    writing.note("nodes", fmt::format("a {} is on one node", type));
}

}  // namespace

bool recognises_dstack(const Source& source) {
  if (source.documents.size() != 1) return false;
  const json::value& root = source.documents[0].value;
  const std::string_view type = text_or(root, "type", "");
  if (std::ranges::find(kTypes, type, &Type::name) != std::end(kTypes)) return true;
  const json::value* resources = find(root, "resources");
  if (resources == nullptr || !resources->is_object() || find(root, "num_nodes") != nullptr ||
      find(root, "apiVersion") != nullptr)
    return false;
  if (find(*resources, "accelerators") != nullptr || find(*resources, "cpus") != nullptr)
    return false;
  return find(*resources, "gpu") != nullptr || find(*resources, "cpu") != nullptr ||
         find(*resources, "memory") != nullptr;
}

void read_dstack(const Source& source, Reading& reading) {
  if (source.documents.size() != 1) return reading.problem(source.file, "one document is read");
  const Node root = Node::root(reading, source, 0);
  root["name"].take();
  read_type(root["type"], reading);
  if (const auto nodes = read_range(root["nodes"], whole))
    reading.say("nodes", root["nodes"].where()).nodes = *nodes;
  const Node resources = root["resources"];
  read_cpu(resources["cpu"], reading);
  if (const auto bytes = read_range(resources["memory"], memory_of))
    reading.say("memory_gb", resources["memory"].where()).memory_bytes = *bytes;
  if (const Node gpu = resources["gpu"])
    read_gpu(gpu, reading);
  else
    reading.say_no_devices();
}

void write_dstack(const Writing& writing, Source& target) {
  const Shape& shape = writing.shape;
  note_without_words(writing, {kNoDriver, kNoRuntime, kNoDescription});
  const auto gpu = gpu_of(writing);
  json::value& root = root_of(writing, target);
  note_of_the_type(writing, root);
  const std::string_view type = text_or(root, "type", "");
  const bool has_nodes = type != "service" && type != "dev-environment";
  if (writing.parts.nodes && has_nodes) put(as_object(root), "nodes", shape.nodes);
  json::object& resources = object_at(root, {"resources"});
  const auto write = [&](bool part, std::string_view key, std::optional<json::value> value) {
    if (!part) return;
    if (value)
      put(resources, key, *std::move(value));
    else
      drop(resources, key);
  };
  std::optional<json::value> cpu;
  if (shape.cpu_milli > 0) {
    const int64_t count = (shape.cpu_milli + 999) / 1000;
    if (shape.cpu_milli % 1000 != 0)
      writing.note("cpu", fmt::format("dstack counts whole CPUs: {} are asked for", count));
    cpu = json::string(fmt::format("{}..", count));
  }
  std::optional<json::value> memory;
  if (shape.memory_bytes > 0) memory = json::string(memory_words(writing));
  write(writing.parts.cpu, "cpu", std::move(cpu));
  write(writing.parts.memory, "memory", std::move(memory));
  write(writing.parts.devices, "gpu", gpu);
  if (resources.empty()) drop(as_object(root), "resources");
}

}  // namespace exa::vocabulary
