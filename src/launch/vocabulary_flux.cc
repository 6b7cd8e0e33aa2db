// Flux: the options of its submitting commands, the same in the head of a batch script (RFC 36),
// and jobspec version 1 (RFC 25).
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "launch/vocabulary_options.h"
#include "launch/vocabulary_slurm.h"
#include "launch/vocabulary_table.h"

namespace exa::vocabulary {
namespace {

constexpr Takes kFlag = Takes::nothing;
constexpr Takes kMaybe = Takes::maybe;

constexpr OptionRow kOptions[] = {
    {"--add-file"},
    {"--bank", 'B'},
    {"--begin-time"},
    {"--broker-opts"},
    {"--cc"},
    {"--bcc"},
    {"--conf"},
    {"--cores"},
    {"--cores-per-slot"},
    {"--cores-per-task", 'c'},
    {"--cwd"},
    {"--debug", 0, kFlag},
    {"--debug-emulate", 0, kFlag},
    {"--dependency"},
    {"--dry-run", 0, kFlag},
    {"--dump", 0, kMaybe},
    {"--env"},
    {"--env-file"},
    {"--env-remove"},
    {"--error"},
    {"--exclusive", 'x', kFlag},
    {"--flags"},
    {"--gpus-per-node"},
    {"--gpus-per-slot"},
    {"--gpus-per-task", 'g'},
    {"--help", 'h', kFlag},
    {"--input"},
    {"--job-name"},
    {"--label-io", 'l', kFlag},
    {"--log"},
    {"--log-stderr"},
    {"--nodes", 'N'},
    {"--nslots"},
    {"--ntasks", 'n'},
    {"--output"},
    {"--queue", 'q'},
    {"--quiet", 0, kFlag},
    {"--requires"},
    {"--rlimit"},
    {"--setattr", 'S'},
    {"--setopt", 'o'},
    {"--signal"},
    {"--taskmap"},
    {"--tasks-per-core"},
    {"--tasks-per-node"},
    {"--time-limit", 't'},
    {"--unbuffered", 'u', kFlag},
    {"--urgency"},
    {"--verbose", 'v', kMaybe},
    {"--wait", 0, kFlag},
    {"--wait-event", 0, kMaybe},
    {"--watch", 0, kFlag},
    {"--wrap", 0, kFlag},
};

constexpr std::string_view kShapeOptions[] = {
    "--nodes",         "--nslots",         "--ntasks",         "--tasks-per-node",
    "--cores",         "--cores-per-task", "--cores-per-slot", "--gpus-per-task",
    "--gpus-per-slot", "--gpus-per-node",
};

constexpr std::string_view kPrograms[] = {"flux batch", "flux run", "flux submit", "flux alloc",
                                          "flux bulksubmit"};

// A line whose first word of letters is "flux:" or "FLUX:", behind comment characters only.
size_t head(std::string_view line) {
  const size_t word =
      line.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
  if (word == line.npos || word == 0) return line.npos;
  const std::string_view tag = line.substr(word, 5);
  return tag == "flux:" || tag == "FLUX:" ? word + 5 : line.npos;
}

constexpr OptionGrammar kGrammar = {kPrograms, kOptions, head, "#FLUX: "};

constexpr NoWord kNoMemory = {"memory_gb", "Flux does not schedule memory"};

// --- options

class Reader {
 public:
  Reader(const OptionText& options, Reading& reading) : options_(options), reading_(reading) {}

  void read() {
    const auto nodes = count({"--nodes"});
    if (nodes) reading_.say("nodes", where_).nodes = *nodes;
    const int64_t slots = slots_per_node(nodes);
    if (is_broken_) return;
    if (const auto cores = count({"--cores-per-slot", "--cores-per-task"}))
      reading_.say("cpu", where_).cpu_milli = *cores * slots * 1000;
    else if (const auto all = count({"--cores"}))
      if (const auto on_each = per_node(*all, nodes, "cores"))
        reading_.say("cpu", where_).cpu_milli = *on_each * 1000;
    std::optional<int64_t> gpus = count({"--gpus-per-node"});
    if (!gpus)
      if (const auto on_slot = count({"--gpus-per-slot", "--gpus-per-task"}))
        gpus = *on_slot * slots;
    if (gpus.value_or(0) > 0) {
      reading_.say("gpu_count", where_).gpu_count = *gpus;
      reading_.leave_open("accelerator_family", where_, "a gpu of Flux is any vendor's");
    } else if (!is_broken_) {
      reading_.say_no_devices();
    }
    for (const Option& option : options_.options)
      if (std::ranges::find(kShapeOptions, option.name) == std::end(kShapeOptions) &&
          option.name != "--job-name")
        reading_.note(option.where, option.where != option.written
                                        ? fmt::format("{}: no field of a profile", option.written)
                                        : "no field of a profile");
  }

 private:
  void problem(std::string message, std::string suggestion = {}) {
    is_broken_ = true;
    reading_.problem(where_, std::move(message), std::move(suggestion));
  }

  // The first of the names that is given; `where_` is its place then.
  std::optional<int64_t> count(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      const Option* option = last_option(options_, name);
      if (option == nullptr) continue;
      where_ = option->where;
      const auto read = parse_count(option->value, option->written);
      if (read && *read > 0 && *read < 1'000'000) return *read;
      problem(fmt::format("{}: \"{}\" is not a whole number above 0", option->written,
                          printable(option->value)));
      return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<int64_t> per_node(int64_t all, std::optional<int64_t> nodes,
                                  std::string_view what) {
    if (!nodes && all > 1) {
      problem(fmt::format("on how many nodes {} {} are is not said", all, what), "add --nodes");
      return std::nullopt;
    }
    if (all % nodes.value_or(1) != 0) {
      problem(fmt::format("{} {} on {} nodes are not alike on every node", all, what, *nodes));
      return std::nullopt;
    }
    return all / nodes.value_or(1);
  }

  int64_t slots_per_node(std::optional<int64_t> nodes) {
    if (const auto on_node = count({"--tasks-per-node"})) return *on_node;
    const auto slots = count({"--nslots", "--ntasks"});
    if (!slots) return 1;
    return per_node(*slots, nodes, "slots").value_or(1);
  }

  const OptionText& options_;
  Reading& reading_;
  std::string where_;
  bool is_broken_ = false;
};

// --- jobspec

struct Totals {
  int64_t nodes = 0;
  int64_t cores = 0;  // of a node, or of the whole when no node stands above
  int64_t gpus = 0;
  std::string gpus_where;
  std::string cores_where;
};

void walk(const Node& vertex, int64_t times, bool in_node, Totals& totals) {
  const std::string type(vertex.peek("type"));
  vertex["type"].take();
  vertex["label"].take();
  const Node count = vertex["count"];
  if (count && !count.value().is_number())
    return count.problem("a range of counts; a profile asks for one number");
  const auto number = count ? read_count(count) : std::optional<int64_t>(1);
  if (!number) return;
  if (*number < 1 || *number > 1'000'000 / times) return count.problem("is out of range");
  const int64_t all = times * *number;
  if (type == "core" || type == "gpu") {
    (type == "core" ? totals.cores : totals.gpus) += all;
    (type == "core" ? totals.cores_where : totals.gpus_where) = vertex.where();
    if (type == "gpu") count.take();
    return;
  }
  if (type != "node" && type != "slot")
    return vertex.note(
        fmt::format("\"{}\" is no resource that a profile asks for", printable(type)));
  if (type == "node" && in_node) return vertex.problem("a node in a node");
  if (type == "node") totals.nodes += all;
  for (const Node& below : vertex["with"].elements())
    walk(below, type == "node" ? 1 : all, in_node || type == "node", totals);
  if (type == "slot" && !in_node && totals.nodes == 0 && all > 1 && totals.cores + totals.gpus > 0)
    vertex.problem(fmt::format("on how many nodes {} slots are is not said", all));
}

void read_jobspec(const Source& source, Reading& reading) {
  for (size_t i = 0; i < source.documents.size(); ++i) {
    const Node root = Node::root(reading, source, i);
    root["version"].take();
    const Node resources = root["resources"];
    if (!resources) return root.problem("names no resources");
    Totals totals;
    const std::vector<Node> vertices = resources.elements();
    if (vertices.size() > 1) resources.problem("lists several resources; a profile asks for one");
    for (const Node& vertex : vertices) walk(vertex, 1, false, totals);
    if (totals.nodes > 0) reading.say("nodes", resources.where()).nodes = totals.nodes;
    if (totals.cores > 0) reading.say("cpu", totals.cores_where).cpu_milli = totals.cores * 1000;
    if (totals.gpus > 0) {
      reading.say("gpu_count", totals.gpus_where).gpu_count = totals.gpus;
      reading.leave_open("accelerator_family", totals.gpus_where, "a gpu of Flux is any vendor's");
    } else {
      reading.say_no_devices();
    }
  }
}

// --- writing

// As whole numbers; what Flux cannot say is noted.
struct Counts {
  int64_t cores = 0;
  int64_t gpus = 0;
};

Counts counts_of(const Writing& writing) {
  const Shape& shape = writing.shape;
  note_without_words(writing,
                     {kNoMemory,
                      kNoDriver,
                      kNoRuntime,
                      kNoUse,
                      kNoDescription,
                      {"accelerator_model_hint", "properties of nodes are named by the site"},
                      {"mig_profile", "Flux counts GPUs: whole ones are asked for"},
                      {"gpu_fraction", "Flux counts GPUs: whole ones are asked for"}});
  Counts counts{(shape.cpu_milli + 999) / 1000, shape.gpu_count};
  if (shape.cpu_milli % 1000 != 0)
    writing.note("cpu", fmt::format("Flux counts cores: {} are asked for", counts.cores));
  const Family family = shape.accelerator_family;
  if (family == Family::cpu) return counts;
  writing.note("accelerator_family", "Flux does not say whose a GPU is");
  const bool is_gpu = family == Family::nvidia || family == Family::amd;
  if (!is_gpu) {
    note_without_words(writing, {{"gpu_count", "Flux finds GPUs only"}});
    counts.gpus = 0;
  }
  return counts;
}

std::vector<std::string> flux_options(const Writing& writing) {
  const Counts counts = counts_of(writing);
  std::vector<std::string> options = {fmt::format("--nodes={}", writing.shape.nodes),
                                      fmt::format("--nslots={}", writing.shape.nodes)};
  if (counts.cores > 0) options.push_back(fmt::format("--cores-per-slot={}", counts.cores));
  if (counts.gpus > 0) options.push_back(fmt::format("--gpus-per-slot={}", counts.gpus));
  return options;
}

// The options of commands other than batch and alloc speak of tasks.
void speak_of_tasks(std::vector<std::string>& options) {
  for (std::string& option : options)
    for (const std::string_view word : {"slots=", "slot="})
      if (const size_t at = option.find(word); at != option.npos)
        option.replace(at, word.size(), word == "slots=" ? "tasks=" : "task=");
}

void write_jobspec(const Writing& writing, Source& target) {
  const Counts counts = counts_of(writing);
  if (counts.cores == 0) writing.note("cpu", "a jobspec asks for a core at least");
  if (target.documents.empty()) new_document(target);
  if (!asks_for_anything(writing.parts)) return;
  json::value& root = target.documents.front().value;
  std::string label = "default";  // what the tasks name
  if (const json::value* tasks = find(root, "tasks");
      tasks != nullptr && tasks->is_array() && !tasks->get_array().empty())
    label = text_or(tasks->get_array()[0], "slot", "default");
  json::array devices;
  devices.push_back({{"type", "core"}, {"count", std::max<int64_t>(counts.cores, 1)}});
  if (counts.gpus > 0) devices.push_back({{"type", "gpu"}, {"count", counts.gpus}});
  json::array slots;
  slots.push_back({{"type", "slot"}, {"count", 1}, {"label", label}, {"with", std::move(devices)}});
  json::array nodes;
  nodes.push_back({{"type", "node"}, {"count", writing.shape.nodes}, {"with", std::move(slots)}});
  put(as_object(root), "resources", std::move(nodes));
}

}  // namespace

bool is_flux_script(std::string_view text) {
  return text.starts_with("#!") || has_head(text, kGrammar) ||
         begins_with_program(text, kPrograms) || is_options_alone(text);
}

bool recognises_flux(const Source& source) {
  if (source.form == Form::script)
    return has_head(source.text, kGrammar) || begins_with_program(source.text, kPrograms) ||
           is_options_alone(source.text);
  return std::ranges::any_of(source.documents, [](const YamlDocument& document) {
    const json::value* resources = find(document.value, "resources");
    return resources != nullptr && resources->is_array() &&
           find(document.value, "tasks") != nullptr;
  });
}

void read_flux(const Source& source, Reading& reading) {
  if (source.form != Form::script) return read_jobspec(source, reading);
  const OptionText options = parse_options(source, kGrammar, reading);
  Reader(options, reading).read();
}

void write_flux(const Writing& writing, Source& target) {
  if (writing.is_new) {
    target.form = Form::script;
    target.text = fmt::format("#!/bin/sh\n#FLUX: --job-name={}\n", writing.name);
    for (const std::string& option : flux_options(writing))
      target.text += fmt::format("#FLUX: {}\n", option);
    return;
  }
  if (target.form != Form::script) return write_jobspec(writing, target);
  std::vector<std::string> added = flux_options(writing);
  if (!asks_for_anything(writing.parts)) return;
  Reading reading(target);
  const OptionText options = parse_options(target, kGrammar, reading);
  const bool has_tasks = !options.is_script && options.program != "flux batch" &&
                         options.program != "flux alloc" && !options.program.empty();
  if (has_tasks) speak_of_tasks(added);
  target.text = with_options(target, kGrammar, options, kShapeOptions, added);
}

}  // namespace exa::vocabulary
