// What options of Slurm ask for.
#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "discover/slurm_gres.h"
#include "launch/vocabulary_slurm.h"

namespace exa::vocabulary {
namespace {

bool is_shape_option(std::string_view name) {
  const auto options = slurm_shape_options();
  return std::ranges::find(options, name) != options.end();
}

// Slurm's factors are 1024, its unit is the megabyte, and what is less is rounded up.
std::optional<int64_t> slurm_memory(std::string_view text) {
  constexpr std::pair<char, int64_t> kUnits[] = {
      {'k', kKiB}, {'m', kMiB}, {'g', kGiB}, {'t', 1024 * kGiB}};
  std::string amount = lower(text);
  if (amount.size() > 1 && amount.back() == 'b') amount.pop_back();
  int64_t factor = kMiB;
  for (const auto& [letter, bytes] : kUnits) {
    if (amount.empty() || amount.back() != letter) continue;
    factor = bytes;
    amount.pop_back();
    break;
  }
  const auto count = parse_count(amount, "memory");
  if (!count || *count > INT64_MAX / factor - kMiB) return std::nullopt;
  return (*count * factor + kMiB - 1) / kMiB * kMiB;
}

class Reader {
 public:
  Reader(const OptionText& options, Reading& reading) : options_(options), reading_(reading) {}

  void read() {
    read_nodes();
    read_devices();
    read_tasks();
    read_device_counts();
    read_cpu();
    read_memory();
    read_constraint();
    read_family();
    note_the_rest();
  }

 private:
  // A series as people write it ("A100"); any other word of a site stays as it is.
  static std::string hint_of(std::string_view word) {
    const std::string_view series = series_meant(word);
    return std::string(same_word(series, word) ? series : word);
  }

  // One kind of device, `count` of it on a node once that is known.
  struct Devices {
    const Option* option = nullptr;
    std::string_view name;
    std::string_view type;
    std::optional<int64_t> count;
  };

  const Option* find(std::string_view name) const { return last_option(options_, name); }

  void problem(const Option& option, std::string message, std::string suggestion = {}) {
    if (option.where != option.written) message = fmt::format("{}: {}", option.written, message);
    reading_.problem(option.where, std::move(message), std::move(suggestion));
  }
  void note(const Option& option, std::string message) {
    if (option.where != option.written) message = fmt::format("{}: {}", option.written, message);
    reading_.note(option.where, std::move(message));
  }

  void leave_open(std::string_view field, const Option& option, std::string message) {
    if (option.where != option.written) message = fmt::format("{}: {}", option.written, message);
    reading_.leave_open(field, option.where, std::move(message));
  }

  // Beyond any machine; products of three stay below 2^63.
  static constexpr int64_t kMost = 1'000'000;

  std::optional<int64_t> count(std::string_view name) {
    const Option* option = find(name);
    if (option == nullptr) return std::nullopt;
    const Result<int64_t> read = parse_count(option->value, option->written);
    if (read && *read > 0 && *read <= kMost) return *read;
    problem(*option, fmt::format("\"{}\" is not a whole number above 0", printable(option->value)));
    is_broken_ = true;
    return std::nullopt;
  }

  void read_nodes() {
    const Option* option = find("--nodes");
    if (option == nullptr) return;
    const std::vector<std::string_view> ends = split(option->value, '-');
    const Result<int64_t> nodes = parse_count(ends[0], "nodes");
    if (ends.size() == 2 && ends[0] != ends[1] && nodes) {
      problem(*option,
              fmt::format("{} is a range; a profile asks for one number of nodes",
                          printable(option->value)),
              fmt::format("write --nodes={} or --nodes={}", ends[0], ends[1]));
    } else if (!nodes || *nodes == 0 || ends.size() > 2) {
      problem(*option, fmt::format("\"{}\" is not a number of nodes", printable(option->value)));
    } else {
      nodes_ = *nodes;
      reading_.say("nodes", option->where).nodes = *nodes;
      return;
    }
    is_broken_ = true;
  }

  void read_tasks() {
    const auto total = count("--ntasks");
    const auto per_node = count("--ntasks-per-node");
    tasks_said_ = total || per_node;
    if (per_node) tasks_ = *per_node;
    if (const auto per_gpu = count("--ntasks-per-gpu"); per_gpu && devices_.count) {
      tasks_ = *per_gpu * *devices_.count;
      tasks_said_ = true;
    }
    if (!total || is_broken_) return;
    // beside --ntasks, --ntasks-per-node is only the most: the number of nodes stays open
    if (!nodes_ && *total > 1) {
      problem(*find("--ntasks"), fmt::format("on how many nodes {} tasks run is not said", *total),
              "add --nodes, or write --ntasks-per-node instead");
      is_broken_ = true;
    } else if (nodes_ && *total % *nodes_ != 0) {
      problem(*find("--ntasks"),
              fmt::format("{} tasks on {} nodes are not alike on every node", *total, *nodes_));
      is_broken_ = true;
    } else {
      tasks_ = *total / nodes_.value_or(1);
    }
  }

  // --- devices

  void add_devices(const Option& option, const Gres& gres, std::optional<int64_t> on_a_node) {
    if (gres.count == 0) return;
    if (gres.count > kMost)
      return problem(option, fmt::format("{} devices are more than any node has", gres.count));
    if (parse_milli(gres.type, "").has_value() && gres.type.find('.') != gres.type.npos)
      return problem(option, fmt::format("{} devices: Slurm counts whole ones", gres.type));
    const bool is_other = devices_.option != nullptr &&
                          (devices_.name != gres.name || devices_.type != gres.type ||
                           (devices_.count && on_a_node && devices_.count != on_a_node));
    if (is_other) {
      problem(option, "asks for other devices than were asked for before; a profile has one kind");
      is_broken_ = true;
      return;
    }
    if (devices_.option == nullptr) devices_ = {&option, gres.name, gres.type, std::nullopt};
    if (on_a_node) devices_.count = on_a_node;
  }

  // Of "2", "a100" or "a100:2" behind --gpus and the like.
  std::optional<Gres> gpus_of(std::string_view name) {
    const Option* option = find(name);
    if (option == nullptr) return std::nullopt;
    texts_.push_back("gpu:" + option->value);
    const auto list = parse_gres(texts_.back(), MissingCount::is_one);
    if (list && list->size() == 1) return list->front();
    problem(*option, fmt::format("\"{}\" is not [type:]number", printable(option->value)));
    is_broken_ = true;
    return std::nullopt;
  }

  void read_gres(const Option& option) {
    if (option.value == "none") return;
    texts_.push_back(plain_gres(option.value));
    const auto list = parse_gres(texts_.back(), MissingCount::is_one);
    if (!list) return problem(option, list.error().message);
    for (const Gres& gres : *list) {
      if (!families_of_gres(gres.name).empty()) {
        add_devices(option, gres, gres.count);
      } else if (gres.name == "shard" || gres.name == "mps") {
        has_shares_ = true;
        leave_open("gpu_count", option,
                   fmt::format("how much of a device {}:{} is stands in the site's gres.conf",
                               gres.name, gres.count));
      } else {
        note(option, fmt::format("{} is no accelerator that is known", printable(gres.name)));
      }
    }
  }

  void read_devices() {
    if (const Option* option = find("--gres")) read_gres(*option);
    if (const auto gres = gpus_of("--gpus-per-node"))
      add_devices(*find("--gpus-per-node"), *gres, gres->count);
    if (const auto gres = gpus_of("--gpus")) {
      std::optional<int64_t> on_a_node;
      const Option& option = *find("--gpus");
      const int64_t nodes = nodes_.value_or(1);
      if (is_broken_) {
        // of which part is said already
      } else if (!nodes_ && gres->count > 1 && !find("--gpus-per-node")) {
        problem(option, fmt::format("on how many nodes {} GPUs are is not said", gres->count),
                "add --nodes, or write --gpus-per-node");
        is_broken_ = true;
      } else if (gres->count % nodes != 0) {
        problem(option,
                fmt::format("{} GPUs on {} nodes are not alike on every node", gres->count, nodes));
        is_broken_ = true;
      } else if (nodes_ || gres->count == 1) {
        on_a_node = gres->count / nodes;
      }
      add_devices(option, *gres, on_a_node);
    }
    if (const auto gres = gpus_of("--gpus-per-socket")) {
      const auto sockets = count("--sockets-per-node");
      const Option& option = *find("--gpus-per-socket");
      if (!sockets && !is_broken_) {
        problem(option, "how many sockets a node has is not said",
                "add --sockets-per-node, or write --gpus-per-node");
      }
      add_devices(option, *gres,
                  sockets ? std::optional<int64_t>(*sockets * gres->count) : std::nullopt);
    }
    if (const auto gres = gpus_of("--gpus-per-task"))
      add_devices(*find("--gpus-per-task"), *gres, {});
  }

  // After the tasks, on which --gpus-per-task rests.
  void read_device_counts() {
    if (const auto gres = gpus_of("--gpus-per-task"); gres && !is_broken_)
      add_devices(*find("--gpus-per-task"), *gres, gres->count * tasks_);
    if (devices_.option == nullptr || is_broken_) return;
    const std::string& where = devices_.option->where;
    const SlurmNames::Device& device = names_.device(devices_.type);
    if (devices_.count) reading_.say("gpu_count", where).gpu_count = *devices_.count;
    if (!device.mig_profile.empty())
      reading_.say("mig_profile", where).mig_profile = device.mig_profile;
    if (!device.reported.empty())
      reading_.say("accelerator_model_hint", where).accelerator_model_hint =
          hint_of(device.reported);
  }

  void read_family() {
    if (devices_.option == nullptr) {
      if (!has_shares_ && !is_broken_) reading_.say_no_devices();
      return;
    }
    const std::vector<Family> of_name = families_of_gres(devices_.name);
    std::optional<Family> family = names_.device(devices_.type).family;
    if (!family) family = family_of_feature_;
    if (of_name.size() == 1) family = of_name.front();
    if (family && !info(*family).askable) {
      return problem(*devices_.option, fmt::format("{} is of no family that a profile may ask for",
                                                   printable(devices_.type)));
    }
    if (family) {
      reading_.say("accelerator_family", devices_.option->where).accelerator_family = *family;
      return;
    }
    leave_open("accelerator_family", *devices_.option,
               fmt::format("{} does not say whose device it is",
                           devices_.type.empty() ? devices_.name : devices_.type));
  }

  // --- cores and memory

  void read_cpu() {
    const auto per_task = count("--cpus-per-task");
    const auto per_gpu = count("--cpus-per-gpu");
    if (is_broken_) return;
    std::string where;
    if (per_task) {
      cpus_ = *per_task * tasks_;
      where = find("--cpus-per-task")->where;
    } else if (per_gpu) {
      where = find("--cpus-per-gpu")->where;
      if (!devices_.count) return problem(*find("--cpus-per-gpu"), "no GPU is asked for");
      cpus_ = *per_gpu * *devices_.count;
    } else if (tasks_said_) {
      cpus_ = tasks_;  // one each, which is Slurm's default
      for (const char* name : {"--ntasks-per-node", "--ntasks", "--ntasks-per-gpu"})
        if (where.empty() && find(name) != nullptr) where = find(name)->where;
    } else {
      return;
    }
    reading_.say("cpu", where).cpu_milli = std::min(*cpus_, INT64_MAX / 1000) * 1000;
  }

  void read_memory_option(std::string_view name, int64_t times) {
    const Option* option = find(name);
    if (option == nullptr) return;
    const auto bytes = slurm_memory(option->value);
    if (!bytes) {
      return problem(*option, fmt::format("\"{}\" is not an amount of memory such as 32G or 500M",
                                          printable(option->value)));
    }
    if (*bytes == 0) return leave_open("memory_gb", *option, "0 asks for all the memory of a node");
    if (reading_.said("memory_gb"))
      return problem(*option, "memory is asked for in another way already");
    reading_.say("memory_gb", option->where).memory_bytes =
        *bytes > INT64_MAX / times ? INT64_MAX : *bytes * times;
  }

  void read_memory() {
    read_memory_option("--mem", 1);
    if (is_broken_) return;
    read_memory_option("--mem-per-cpu", cpus_.value_or(tasks_));
    if (find("--mem-per-gpu") == nullptr) return;
    if (!devices_.count) return problem(*find("--mem-per-gpu"), "no GPU is asked for");
    read_memory_option("--mem-per-gpu", *devices_.count);
  }

  // A feature means a model or a driver only where the reader of the cluster takes it for one.
  void read_constraint() {
    const Option* option = find("--constraint");
    if (option == nullptr) return;
    bool is_read = option->value.find_first_of("|*()[]!") == std::string::npos;
    for (const std::string_view word : split(option->value, '&')) {
      if (!is_read) break;
      const SlurmNames::Feature& feature = names_.feature(word);
      if (feature.software && !reading_.said("driver_tag")) {
        reading_.say("driver_tag", option->where).driver_tag =
            fmt::format("{}-{}", feature.software->product, feature.software->version);
      } else if (feature.family && devices_.option != nullptr && devices_.type.empty() &&
                 !reading_.said("accelerator_model_hint")) {
        reading_.say("accelerator_model_hint", option->where).accelerator_model_hint =
            hint_of(word);
        family_of_feature_ = feature.family;
      } else {
        is_read = false;
      }
    }
    if (!is_read) note(*option, "a profile has no field for features of nodes");
  }

  void note_the_rest() {
    for (const Option& option : options_.options) {
      if (is_shape_option(option.name) || option.name == "--constraint" ||
          option.name == "--job-name")
        continue;
      if (option.name == "--tres-per-task") {
        problem(option, "is not read", "write --cpus-per-task and --gpus-per-task");
      } else if (option.name == "--exclusive") {
        note(option, "whole nodes: what they have beyond the shape is not asked for");
      } else if (option.name == "--sockets-per-node" && find("--gpus-per-socket") != nullptr) {
        continue;
      } else {
        note(option, "no field of a profile");
      }
    }
  }

  const OptionText& options_;
  Reading& reading_;
  SlurmNames names_;
  std::deque<std::string> texts_;  // that entries of lists point into
  std::optional<int64_t> nodes_;
  int64_t tasks_ = 1;  // on a node
  bool tasks_said_ = false;
  std::optional<int64_t> cpus_;
  Devices devices_;
  std::optional<Family> family_of_feature_;
  bool has_shares_ = false;
  bool is_broken_ = false;  // an amount that others rest on could not be read
};

}  // namespace

void read_slurm(const OptionText& options, Reading& reading) {
  Reader(options, reading).read();
}

}  // namespace exa::vocabulary
