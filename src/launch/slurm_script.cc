#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "launch/batch_script.h"
#include "launch/renderers.h"

namespace exa {
namespace {

constexpr std::string_view kOwnPrefixes[] = {"SLURM_", "SLURMD_", "SBATCH_",
                                             "SRUN_",  "PMI_",    "PMIX_"};
constexpr BatchScheduler kSlurm = {"Slurm", "srun", "SLURM_PROCID", "SLURM_JOB_ID", kOwnPrefixes};

// gres/gpu's plugin sets these; other kinds ("hpu", "tpu") set nothing.
constexpr std::string_view kVisibleDevices[] = {"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                                                "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"};

struct GresName {
  std::string_view name;  // "gpu"
  std::string_view type;  // "a100"; empty: any
};

GresName split_gres(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// "gpu", "gpu:a100".
bool is_gres(std::string_view text) {
  const GresName gres = split_gres(text);
  return is_device_word(gres.name) &&
         (text.find(':') == std::string_view::npos || is_device_word(gres.type));
}

bool asks_for_devices(const Resources& resources) {
  return resources.gpus > 0 && resources.family != Family::cpu;
}

bool is_in(std::span<const std::string_view> list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

void check_devices(const LaunchSpec& spec, std::vector<Problem>& problems) {
  const Resources& resources = spec.resources;
  const std::string& device = spec.options.device;
  if (!resources.mig_profile.empty() && !is_device_word(resources.mig_profile))
    problems.push_back({"/resources/mig_profile",
                        fmt::format("\"{}\" is no name of a MIG profile, such as 1g.10gb",
                                    printable(resources.mig_profile)),
                        ""});
  if (device.empty() || !asks_for_devices(resources)) return;
  if (!is_gres(device)) {
    problems.push_back(
        {"/options/device",
         fmt::format("\"{}\" is no name of a GRES, such as gpu:a100", printable(device)), ""});
    return;
  }
  const FamilyInfo& family = info(resources.family);
  const std::string_view name = split_gres(device).name;
  const bool share = resources.fraction_milli < 1000 && name == "shard";
  if (is_in(family.slurm_gres, name) || share) return;
  const std::vector<std::string> names(family.slurm_gres.begin(), family.slurm_gres.end());
  problems.push_back({"/options/device",
                      fmt::format("{} devices are gres/{} in Slurm, not gres/{}", family.vendor,
                                  join(names, " or gres/"), name),
                      ""});
}

// A share of one card. A job's shards may come from any cards, so that "half of each of two cards"
// cannot be said; nor can a share be where nobody knows how many a card has.
std::string share_of_a_card(const LaunchSpec& spec, std::vector<std::string>& notes) {
  const Resources& resources = spec.resources;
  const std::string asked = format_milli(resources.fraction_milli);
  std::string why_whole;
  if (!is_in(info(resources.family).fraction_mechanisms, "shard"))
    why_whole = fmt::format("{} devices are not shared in Slurm", info(resources.family).vendor);
  else if (resources.gpus > 1)
    why_whole = "shards are counted over all cards of a node, not on each";
  else if (spec.options.shares_per_device <= 0)
    why_whole = "how many shards this cluster cuts a card into is not known";
  if (!why_whole.empty()) {
    notes.push_back(
        fmt::format("{} of each device is asked for as the whole device: {}", asked, why_whole));
    return "";
  }
  const int64_t shares = spec.options.shares_per_device;
  const int64_t units = (shares * resources.fraction_milli + 999) / 1000;
  notes.push_back(fmt::format(
      "{} of a card is asked for as {} of its {} shards{}: Slurm counts them and keeps nobody to "
      "his share of the card's memory",
      asked, units, shares,
      units * 1000 == shares * resources.fraction_milli ? "" : ", rounded up"));
  const std::string_view type = split_gres(spec.options.device).type;
  return type.empty() ? fmt::format("shard:{}", units) : fmt::format("shard:{}:{}", type, units);
}

// The value of --gres, per node; empty: none.
std::string gres_of(const LaunchSpec& spec, std::vector<std::string>& notes) {
  const Resources& resources = spec.resources;
  if (!asks_for_devices(resources)) return "";
  const std::string& device = spec.options.device;
  const std::string_view family_gres = info(resources.family).slurm_gres.front();
  if (!resources.mig_profile.empty()) {
    const std::string asked =
        device.empty() ? fmt::format("{}:{}", family_gres, resources.mig_profile) : device;
    if (device.empty())
      notes.push_back(fmt::format(
          "the MIG profile is asked for as the GRES type {}: a cluster that calls it otherwise "
          "refuses the job, and needs its own word as the device (gpu:TYPE)",
          resources.mig_profile));
    else if (asked.find(resources.mig_profile) == std::string::npos)
      notes.push_back(fmt::format("nothing in {} says that it is a MIG profile {}", device,
                                  resources.mig_profile));
    return fmt::format("{}:{}", asked, resources.gpus);
  }
  if (resources.fraction_milli < 1000) {
    std::string share = share_of_a_card(spec, notes);
    if (!share.empty()) return share;
  }
  const bool of_any_type = device.empty() || split_gres(device).name == "shard";
  const std::string asked = of_any_type ? std::string(family_gres) : device;
  if (split_gres(asked).type.empty())
    notes.push_back(fmt::format(
        "whatever this cluster counts as gres/{} will do, of any model{}: {} needs the cluster's "
        "own word as the device ({}:TYPE)",
        asked, asked == "gpu" ? " or vendor, and MIG slices too" : "",
        resources.model.empty() ? "a model" : resources.model, asked));
  if (split_gres(asked).name != "gpu")
    notes.push_back(fmt::format(
        "Slurm tells a program nothing of which gres/{} it holds: on a node that is shared, "
        "devices must be confined to their job",
        split_gres(asked).name));
  return fmt::format("{}:{}", asked, resources.gpus);
}

std::string time_limit(Duration limit) {
  const int64_t all = (limit.micros + 999'999) / 1'000'000;
  return fmt::format("{}-{:02}:{:02}:{:02}", all / 86'400, all / 3600 % 24, all / 60 % 60,
                     all % 60);
}

std::string directives(const LaunchSpec& spec, std::vector<std::string>& notes) {
  const Resources& resources = spec.resources;
  std::string text;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) text += fmt::format("#SBATCH --{}={}\n", option, value);
  };
  add("job-name", job_name(spec));
  add("comment", fmt::format("\"{}\"", launch_tag(spec)));
  add("nodes", std::to_string(resources.nodes));
  add("ntasks-per-node", "1");
  if (resources.cpu_milli > 0)
    add("cpus-per-task", std::to_string(whole_cores(resources.cpu_milli)));
  // 0 would be all of a node's memory
  if (resources.memory_bytes > 0)
    add("mem", fmt::format("{}M", (resources.memory_bytes + kMiB - 1) / kMiB));
  add("gres", gres_of(spec, notes));
  add("partition", spec.options.partition);
  add("account", spec.options.account);
  add("qos", spec.options.qos);
  if (spec.options.time_limit.micros > 0) add("time", time_limit(spec.options.time_limit));
  // what goes wrong stands where it went wrong: errors and output in one file
  if (!spec.folder.empty()) add("output", spec.folder + "/slurm-%j.out");
  // What a lost node or a preemption does to the job; a program that fails is script_run's.
  if (spec.restarts > 0)
    text += "#SBATCH --requeue\n#SBATCH --open-mode=append\n";
  else
    text += "#SBATCH --no-requeue\n";
  return text;
}

// In a cloud, and wherever nodes were given addresses, a node's name may mean nothing to the
// others.
constexpr std::string_view kHeadNode = R"(
# where the first node answers, as Slurm knows it
EXA_HEAD_NODE=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
EXA_HEAD_NODE=$(scontrol --oneliner show node "${EXA_HEAD_NODE%%$'\n'*}")
EXA_HEAD_NODE=${EXA_HEAD_NODE#* NodeAddr=}
export EXA_HEAD_NODE=${EXA_HEAD_NODE%% *}
)";

// srun takes a word ":" for the end of one program and the beginning of the next.
bool has_a_colon_word(const CommandLine& command) {
  return std::ranges::any_of(command, [](const Word& word) { return literal(word) == ":"; });
}

std::string srun_options(const Resources& resources) {
  std::string text = fmt::format("--nodes={0} --ntasks={0} --ntasks-per-node=1", resources.nodes);
  // since 22.05 srun no longer takes it over from sbatch
  if (resources.cpu_milli > 0)
    text += fmt::format(" --cpus-per-task={}", whole_cores(resources.cpu_milli));
  // ALL: also where the job itself was submitted with --export=NONE
  return text + " --kill-on-bad-exit=1 --export=ALL --";
}

}  // namespace

Result<Rendered> render_slurm(const LaunchSpec& spec) {
  const bool held_by_plugin =
      asks_for_devices(spec.resources) && is_in(info(spec.resources.family).slurm_gres, "gpu");
  std::vector<Problem> problems = problems_of_script(
      spec, kSlurm, held_by_plugin ? kVisibleDevices : std::span<const std::string_view>());
  check_devices(spec, problems);
  if (!problems.empty()) return fail(invalid("launch on Slurm", std::move(problems)));

  Rendered rendered;
  rendered.command = {"sbatch", "--parsable", "job.sbatch"};
  std::string text = "#!/bin/bash\n" + directives(spec, rendered.notes);
  note_common_limits(spec, kSlurm, rendered.notes);
  text += script_opening(spec, kSlurm);
  if (mentions(spec.command, RunTime::head_node)) text += kHeadNode;
  text += '\n' + script_exports(spec) + script_search(spec);
  std::string task = task_words(spec.command, kSlurm);
  if (mentions(spec.command, RunTime::node_rank) || has_a_colon_word(spec.command))
    task = in_a_shell(task);
  text += script_run(spec, kSlurm, srun_options(spec.resources), task, "${SLURM_RESTART_COUNT:-0}");
  rendered.files.push_back({"job.sbatch", std::move(text)});
  rendered.files.insert(rendered.files.end(), spec.files.begin(), spec.files.end());
  return rendered;
}

}  // namespace exa
