// Placement on the openb trace: how much each policy leaves unallocated, and how fast it decides.
//   exa_openb FOLDER quality [--seeds N] [--first SEED] [--order drawn|shuffled] [--policies a,b]
//             [--variants default,cpu250] [--learns]
//   exa_openb FOLDER speed [--policies a,b]
//   exa_openb FOLDER chart --file FILE.svg [--policies a,b]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include "base/text.h"
#include "place/chart.h"
#include "place/device_placer.h"
#include "place/simulate.h"

namespace exa {
namespace {

// Mean of ten seeds, percent of GPUs allocated when arrivals reach 100 and 130 % of the capacity;
// from the authors' own runs (see docs/performance.md).
struct Published {
  std::string_view variant;
  double at_100;
  double at_130;
};
constexpr Published kPublishedFgd[] = {
    {"default", 95.2, 95.4},    {"gpushare40", 94.0, 94.2},  {"gpushare60", 91.3, 91.4},
    {"gpushare80", 89.1, 89.3}, {"gpushare100", 86.6, 86.9}, {"multigpu20", 95.5, 95.7},
    {"multigpu30", 96.4, 96.5}, {"multigpu40", 96.9, 97.0},  {"multigpu50", 97.1, 97.2},
    {"gpuspec10", 94.7, 95.0},  {"gpuspec20", 94.7, 94.8},   {"gpuspec25", 93.9, 94.7},
    {"gpuspec33", 87.8, 94.6},  {"cpu050", 95.0, 95.2},      {"cpu100", 95.2, 95.4},
    {"cpu200", 94.8, 95.1},     {"cpu250", 93.2, 93.4},
};

struct Options {
  std::string folder;
  std::string what;
  uint64_t first = 101;
  int64_t seeds = 5;
  ArrivalOrder order = ArrivalOrder::shuffled;
  std::vector<std::string> policies = {"fgd", "exa"};
  std::vector<std::string> variants;
  std::string file = "placement.svg";
  bool learns = false;
};

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::cerr << "cannot read " << path << "\n";
    std::exit(2);
  }
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

template <typename T>
T value_of(Result<T> result) {
  if (result) return std::move(*result);
  std::cerr << result.error().message << "\n";
  for (const Problem& problem : result.error().problems)
    std::cerr << "  " << problem.where << ": " << problem.message << "\n";
  std::exit(2);
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::vector<TracePod> pods_of(const Options& options, std::string_view variant) {
  const std::string path = fmt::format("{}/openb_pod_list_{}.csv", options.folder, variant);
  return value_of(read_trace_pods(read_file(path), variant));
}

std::vector<DeviceNode> nodes_of(const Options& options, std::string_view list) {
  const std::string path = fmt::format("{}/openb_node_list_{}.csv", options.folder, list);
  return value_of(read_trace_nodes(read_file(path), list));
}

double mark(const Simulation& run, int64_t percent) {
  for (const SimulationMark& row : run.marks)
    if (row.arrived_percent == percent) return row.allocated_gpu_percent;
  return run.allocated_percent();
}

void quality(const Options& options) {
  const std::vector<DeviceNode> nodes = nodes_of(options, "gpu_node");
  int64_t capacity = 0;
  for (const DeviceNode& node : nodes) capacity += node.cards * kWholeDevice;
  fmt::print("| workload | published FGD |");
  for (const std::string& policy : options.policies) fmt::print(" {} |", policy);
  fmt::print(" fewer unallocated than {} |\n", options.policies.front());
  std::vector<double> fewer;
  for (const Published& row : kPublishedFgd) {
    if (!options.variants.empty() &&
        std::ranges::find(options.variants, row.variant) == options.variants.end())
      continue;
    if (!std::filesystem::exists(
            fmt::format("{}/openb_pod_list_{}.csv", options.folder, row.variant)))
      continue;
    const std::vector<TracePod> pods = pods_of(options, row.variant);
    fmt::print("| {} | {:.1f} / {:.1f} |", row.variant, row.at_100, row.at_130);
    std::vector<std::pair<double, double>> means;
    for (const std::string& policy : options.policies) {
      double sum_100 = 0;
      double sum_130 = 0;
      for (int64_t n = 0; n < options.seeds; ++n) {
        const uint64_t seed = options.first + static_cast<uint64_t>(n);
        SimulationInput input{
            nodes,          value_of(draw_arrivals(pods, capacity, 1300, seed, options.order)),
            policy,         options.learns ? AskMix() : mix_of(pods),
            options.learns, seed};
        const Simulation run = value_of(simulate(input));
        sum_100 += mark(run, 100);
        sum_130 += mark(run, 130);
      }
      means.emplace_back(sum_100 / static_cast<double>(options.seeds),
                         sum_130 / static_cast<double>(options.seeds));
      fmt::print(" {:.2f} / {:.2f} |", means.back().first, means.back().second);
    }
    const auto saved = [](double ours, double theirs) {
      return 100 * (1 - (100 - ours) / (100 - theirs));
    };
    const double a = saved(means.back().first, means.front().first);
    const double b = saved(means.back().second, means.front().second);
    fewer.push_back(a);
    fewer.push_back(b);
    fmt::print(" {:.0f} % / {:.0f} % |\n", a, b);
    std::fflush(stdout);
  }
  double sum = 0;
  for (const double one : fewer) sum += one;
  if (!fewer.empty())
    fmt::print("\nfewer unallocated on average: {:.1f} %, least {:.1f} %\n",
               sum / static_cast<double>(fewer.size()), *std::ranges::min_element(fewer));
}

std::vector<DeviceNode> replicated(const std::vector<DeviceNode>& nodes, size_t count) {
  std::vector<DeviceNode> all;
  all.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    all.push_back(nodes[i % nodes.size()]);
    all.back().name = fmt::format("node-{:06}", i);
  }
  return all;
}

struct Prepared {
  std::unique_ptr<DevicePlacer> placer;
  std::vector<uint32_t> numbers;  // of each pod's ask
};

Prepared prepare(DeviceFleet& fleet, const std::string& policy, const std::vector<TracePod>& pods) {
  Prepared prepared;
  prepared.placer = std::make_unique<DevicePlacer>(fleet, value_of(make_policy(policy)),
                                                   PlacerOptions{mix_of(pods), false, 1});
  std::map<std::string, uint32_t> known;
  for (const TracePod& pod : pods) {
    const std::string key =
        fmt::format("{} {} {} {} {}", pod.ask.cpu_milli, pod.ask.memory_bytes, pod.ask.devices,
                    pod.ask.share_milli, join(pod.ask.models, "|"));
    if (!known.contains(key)) known[key] = value_of(prepared.placer->prepare(pod.ask));
    prepared.numbers.push_back(known[key]);
  }
  return prepared;
}

// Arrivals until 100 % of the capacity, drawn beforehand so that only decisions (choose and take)
// are timed: once all together in cpu time, once each by the clock.
void speed_of(const std::string& policy, const std::vector<DeviceNode>& nodes,
              const std::vector<TracePod>& pods, std::string_view title) {
  DeviceFleet fleet = value_of(DeviceFleet::build(nodes));
  Prepared all = prepare(fleet, policy, pods);
  std::vector<uint32_t> sequence;
  uint64_t state = 7;
  for (int64_t asked = 0; asked < fleet.capacity_milli();) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const size_t pod = (state >> 33U) % pods.size();
    asked += pods[pod].ask.milli_per_node();
    sequence.push_back(all.numbers[pod]);
  }
  const double started = cpu_seconds();
  for (const uint32_t ask : sequence) all.placer->place(ask);
  const double seconds = cpu_seconds() - started;
  const size_t classes = fleet.live_classes().size();
  const double mib = static_cast<double>(fleet.bytes() + all.placer->bytes()) / (1U << 20U);

  DeviceFleet again = value_of(DeviceFleet::build(nodes));
  Prepared timed = prepare(again, policy, pods);
  std::vector<double> each;
  each.reserve(sequence.size());
  for (const uint32_t ask : sequence) {
    const auto from = std::chrono::steady_clock::now();
    timed.placer->place(ask);
    const auto took = std::chrono::steady_clock::now() - from;
    each.push_back(std::chrono::duration<double, std::micro>(took).count());
  }
  std::ranges::sort(each);
  fmt::print("| {} | {} | {:.0f} | {:.2f} | {:.2f} | {} | {} | {:.1f} |\n", title, policy,
             static_cast<double>(sequence.size()) / seconds, each[each.size() / 2],
             each[each.size() * 99 / 100], sequence.size(), classes, mib);
  std::fflush(stdout);
}

void speed(const Options& options) {
  const std::vector<TracePod> pods = pods_of(options, "default");
  const std::vector<DeviceNode> gpu = nodes_of(options, "gpu_node");
  const std::vector<DeviceNode> all = nodes_of(options, "all_node");
  fmt::print("| nodes | policy | decisions/s | p50 us | p99 us | decisions | classes | MiB |\n");
  for (const std::string& policy : options.policies) {
    speed_of(policy, gpu, pods, "1,213");
    speed_of(policy, all, pods, "1,523");
    speed_of(policy, replicated(all, 10'000), pods, "10,000");
    if (policy != "random") speed_of(policy, replicated(all, 100'000), pods, "100,000");
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("\npeak memory of the whole program: {} MiB\n", usage.ru_maxrss / 1024);
}

void chart(const Options& options) {
  const std::vector<DeviceNode> nodes = nodes_of(options, "gpu_node");
  const std::vector<TracePod> pods = pods_of(options, "default");
  int64_t capacity = 0;
  for (const DeviceNode& node : nodes) capacity += node.cards * kWholeDevice;
  std::vector<Simulation> runs;
  for (const std::string& policy : options.policies)
    for (int64_t n = 0; n < options.seeds; ++n) {
      const uint64_t seed = options.first + static_cast<uint64_t>(n);
      runs.push_back(value_of(
          simulate({nodes, value_of(draw_arrivals(pods, capacity, 1300, seed, options.order)),
                    policy, mix_of(pods), false, seed})));
    }
  std::ofstream(options.file) << chart_of(runs);
}

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> list;
  for (const std::string_view part : split(text, ',')) list.emplace_back(part);
  return list;
}

int run(int count, char** words) {
  if (count < 3) {
    std::cerr << "exa_openb FOLDER quality|speed|chart [--seeds N] [--first SEED] "
                 "[--order drawn|shuffled] [--policies a,b] [--variants a,b] [--learns]\n";
    return 2;
  }
  Options options;
  options.folder = words[1];
  options.what = words[2];
  for (int i = 3; i < count; ++i) {
    const std::string_view word = words[i];
    const std::string_view next = i + 1 < count ? words[i + 1] : "";
    if (word == "--learns") {
      options.learns = true;
      continue;
    }
    ++i;
    if (word == "--seeds") options.seeds = std::stoll(std::string(next));
    if (word == "--first") options.first = std::stoull(std::string(next));
    if (word == "--order")
      options.order = next == "drawn" ? ArrivalOrder::drawn : ArrivalOrder::shuffled;
    if (word == "--policies") options.policies = list_of(next);
    if (word == "--file") options.file = next;
    if (word == "--variants") options.variants = list_of(next);
  }
  if (options.what == "speed")
    speed(options);
  else if (options.what == "chart")
    chart(options);
  else
    quality(options);
  return 0;
}

}  // namespace
}  // namespace exa

int main(int count, char** words) {
  return exa::run(count, words);
}
