// PaletteAI: a ComputeProfile's limits of GPUs and least number of workers, and the label of a
// WorkloadProfile that wins over the latter (requirement "Order of Precedence").
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"
#include "launch/vocabulary_table.h"
#include "launch/vocabulary_text.h"

namespace exa::vocabulary {
namespace {

constexpr std::string_view kMinNodes = "palette.ai/min-nodes";
constexpr std::string_view kDescription = "kubernetes.io/description";

struct Vendor {
  std::string_view prefix;
  Family family;
};
constexpr Vendor kVendors[] = {{"NVIDIA-", Family::nvidia},
                               {"AMD-", Family::amd},
                               {"Intel-", Family::intel_gaudi},
                               {"Google-", Family::tpu}};

bool is_compute_profile(const json::value& document) {
  return text_or(document, "apiVersion", "").starts_with("palette.ai/") &&
         text_or(document, "kind", "") == "ComputeProfile";
}

bool is_workload_profile(const json::value& document) {
  return text_or(document, "apiVersion", "").starts_with("mural.spectrocloud.com/") &&
         text_or(document, "kind", "") == "WorkloadProfile";
}

// --- reading

std::string spaces_as_dashes(std::string_view text) {
  std::string dashed(text);
  for (char& c : dashed)
    if (c == ' ' || c == '_') c = '-';
  return dashed;
}

// "NVIDIA-A100" is a family there; here its vendor is one, and the rest a model.
void read_limit(std::string_view key, const Node& limit, int64_t nodes, Reading& reading) {
  const auto count = read_count(limit);
  if (!count) return;
  if (*count % nodes != 0)
    return limit.problem(
        fmt::format("{} GPUs on {} nodes are not alike on every node", *count, nodes));
  reading.say("gpu_count", limit.where()).gpu_count = *count / nodes;
  const std::string name = spaces_as_dashes(key);
  const auto* vendor = std::ranges::find_if(
      kVendors, [&](const Vendor& row) { return starts_with_ignoring_case(name, row.prefix); });
  std::string hint(key);
  if (vendor != std::end(kVendors)) {
    hint.erase(0, vendor->prefix.size());
    reading.say("accelerator_family", limit.where()).accelerator_family = vendor->family;
  } else if (const auto family = family_meant(key)) {
    reading.say("accelerator_family", limit.where()).accelerator_family = *family;
  } else {
    reading.note(limit.where(), fmt::format("{} is no family that is known", printable(key)));
  }
  reading.say("accelerator_model_hint", limit.where()).accelerator_model_hint = hint;
  reading.note(limit.where(), "the most that may be asked for is read as what is asked for");
}

void read_compute_profile(const Node& root, Reading& reading) {
  for (const char* key : {"apiVersion", "kind"}) root[key].take();
  root["metadata"]["name"].take();
  const Node description = root["metadata"]["annotations"][kDescription];
  if (const auto text = description.scalar())
    reading.say("description", description.where()).description = *text;
  const Node least = root["spec"]["minWorkerNodes"];
  const auto nodes = read_count(least);
  if (nodes && reading.said("nodes"))
    reading.note(least.where(), fmt::format("the label {} wins over it", kMinNodes));
  else if (nodes.value_or(0) > 0)
    reading.say("nodes", least.where()).nodes = *nodes;
  const Node limits = root["spec"]["gpuLimits"];
  const auto families = limits.members();
  if (families.size() > 1)
    return limits.problem(
        fmt::format("limits of {} families; a profile asks for one", families.size()));
  for (const auto& [key, limit] : families) read_limit(key, limit, reading.shape().nodes, reading);
}

void read_label(const Node& root, Reading& reading) {
  for (const char* key : {"apiVersion", "kind"}) root[key].take();
  root["metadata"]["name"].take();
  const Node label = root["metadata"]["labels"][kMinNodes];
  if (const auto nodes = read_count(label); nodes.value_or(0) > 0)
    reading.say("nodes", label.where()).nodes = *nodes;
}

// --- writing

// The family that limits of the shape's GPUs stand under; empty: there is none.
std::string limit_key(const Writing& writing) {
  const Shape& shape = writing.shape;
  const std::string& hint = shape.accelerator_model_hint;
  note_without_words(writing, {{"mig_profile", "limits count GPUs: whole ones"},
                               {"gpu_fraction", "limits count GPUs: whole ones"}});
  if (shape.accelerator_family == Family::cpu) {
    writing.note("accelerator_family", "a family without a limit may be asked for as it likes");
    return "";
  }
  if (hint.empty()) {
    const std::string_view why = "limits are of models, and the profile has no hint";
    writing.note("accelerator_family", std::string(why));
    note_without_words(writing, {{"gpu_count", why}});
    return "";
  }
  const std::string series(series_meant(hint));
  if (!series.empty() && !same_models(series, hint))
    writing.note("accelerator_model_hint", fmt::format("limits are of all {}", series));
  const auto* vendor = std::ranges::find(kVendors, shape.accelerator_family, &Vendor::family);
  // of a model that is not known, only the vendor's own words go: "NVIDIA Foo" is NVIDIA-Foo
  const std::string model = series.empty() ? normalise_model(hint) : series;
  return fmt::format("{}{}", vendor->prefix, model);
}

}  // namespace

bool recognises_palette(const Source& source) {
  return std::ranges::any_of(source.documents, [](const YamlDocument& document) {
    return is_compute_profile(document.value) || is_workload_profile(document.value);
  });
}

void read_palette(const Source& source, Reading& reading) {
  if (!recognises_palette(source))
    return reading.problem(source.file, "there is no ComputeProfile or WorkloadProfile in it");
  size_t profiles = 0;
  for (size_t i = 0; i < source.documents.size(); ++i)
    if (is_workload_profile(source.documents[i].value))
      read_label(Node::root(reading, source, i), reading);
  for (size_t i = 0; i < source.documents.size(); ++i) {
    if (!is_compute_profile(source.documents[i].value)) continue;
    const Node root = Node::root(reading, source, i);
    if (profiles++ > 0) return root.problem("a second ComputeProfile; one is read");
    read_compute_profile(root, reading);
  }
}

void write_palette(const Writing& writing, Source& target) {
  const Shape& shape = writing.shape;
  note_without_words(writing, {{"cpu", "machines are chosen by their GPUs"},
                               {"memory_gb", "machines are chosen by their GPUs"},
                               kNoDriver,
                               kNoRuntime,
                               kNoUse});
  const std::string key = limit_key(writing);
  const auto find_first = [&](bool (*is_one)(const json::value&)) -> json::value* {
    for (YamlDocument& document : target.documents)
      if (is_one(document.value)) return &document.value;
    return nullptr;
  };
  json::value* labelled = find_first(is_workload_profile);
  const bool label_wins = labelled != nullptr &&
                          find(object_at(*labelled, {"metadata"}), "labels") != nullptr &&
                          object_at(*labelled, {"metadata", "labels"}).contains(kMinNodes);
  if (label_wins && writing.parts.nodes)
    put_text(object_at(*labelled, {"metadata", "labels"}), kMinNodes, std::to_string(shape.nodes));
  json::value* root = find_first(is_compute_profile);
  if (root == nullptr) {
    root = &new_document(target);
    *root = {{"apiVersion", "palette.ai/v1alpha1"},
             {"kind", "ComputeProfile"},
             {"metadata", {{"name", writing.name}}}};
    if (writing.is_new)
      writing.note("/spec/controlPlaneDefaults",
                   "Palette requires it and a profile does not say it: write it in, or render over "
                   "a ComputeProfile that has it");
  }
  if (writing.parts.description)
    put_text_at(*root, {"metadata", "annotations", kDescription}, shape.description);
  json::object& spec = object_at(*root, {"spec"});
  if (writing.parts.nodes && !label_wins) put(spec, "minWorkerNodes", shape.nodes);
  // limits are of all nodes together, so they change with the number of nodes
  if (!writing.parts.devices && !writing.parts.nodes) return;
  if (key.empty())
    drop(spec, "gpuLimits");
  else
    put(spec, "gpuLimits", json::object{{key, shape.gpu_count * shape.nodes}});
}

}  // namespace exa::vocabulary
