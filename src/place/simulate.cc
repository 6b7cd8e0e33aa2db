#include "place/simulate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/json.h"
#include "place/device_placer.h"
#include "place/fragmentation.h"

namespace exa {
namespace {

// A generator whose numbers are the same with every compiler (std::shuffle's are not).
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}

  uint64_t next() {  // splitmix64
    uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
  }

  // 0 to bound - 1, each alike (Lemire, 2019, without the last bit of speed).
  size_t below(size_t bound) {
    const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t x = next();
    while (x >= limit) x = next();
    return static_cast<size_t>(x % bound);
  }

 private:
  uint64_t state_;
};

int64_t milli_of(const DeviceAsk& ask) {
  return ask.nodes * ask.milli_per_node();
}

// Prepared asks are kept by what they ask, so that each distinct one is priced once.
std::vector<int64_t> key_of(const DeviceAsk& ask) {
  return {ask.nodes,     ask.devices,      ask.share_milli,
          ask.cpu_milli, ask.memory_bytes, ask.mig ? ask.mig->compute * 16 + ask.mig->memory : 0};
}

class AskNumbers {
 public:
  explicit AskNumbers(DevicePlacer& placer) : placer_(placer) {}

  Result<uint32_t> of(const DeviceAsk& ask) {
    auto& rows = known_[{key_of(ask), ask.models}];
    for (const auto& [same, number] : rows)
      if (same == ask) return number;
    EXA_ASSIGN(const uint32_t number, placer_.prepare(ask));
    rows.emplace_back(ask, number);
    return number;
  }

 private:
  DevicePlacer& placer_;
  std::map<std::pair<std::vector<int64_t>, std::vector<std::string>>,
           std::vector<std::pair<DeviceAsk, uint32_t>>>
      known_;
};

Result<std::vector<uint32_t>> numbers_of(std::span<const TracePod> arrivals, DevicePlacer& placer) {
  AskNumbers known(placer);
  std::vector<uint32_t> numbers;
  std::vector<Problem> problems;
  for (size_t i = 0; i < arrivals.size(); ++i) {
    const Result<uint32_t> number = known.of(arrivals[i].ask);
    if (number) {
      numbers.push_back(*number);
      continue;
    }
    for (const Problem& problem : number.error().problems)
      problems.push_back({fmt::format("arrival {} ({}){}", i + 1, arrivals[i].name, problem.where),
                          problem.message, problem.suggestion});
  }
  if (!problems.empty()) return fail(invalid("arrivals", std::move(problems)));
  return numbers;
}

json::value hundredths(double percent) {
  return std::round(percent * 100) / 100;
}

}  // namespace

Result<std::vector<TracePod>> draw_arrivals(std::span<const TracePod> pods, int64_t capacity_milli,
                                            int64_t inflate_milli, uint64_t seed,
                                            ArrivalOrder order) {
  if (inflate_milli < 1 || inflate_milli > 100'000)
    return fail(Code::invalid_input,
                "arrivals can reach a thousandth to 100 times the capacity; 1.3 is usual");
  if (capacity_milli <= 0) return fail(Code::invalid_input, "the nodes have no devices to fill");
  if (std::ranges::none_of(pods, [](const TracePod& pod) { return milli_of(pod.ask) > 0; }))
    return fail(Code::invalid_input,
                "none of the tasks asks for a device: they never fill a fleet");
  Draws draws(seed);
  const int64_t target =
      capacity_milli / 1000 * inflate_milli + capacity_milli % 1000 * inflate_milli / 1000;
  int64_t asked = 0;
  std::vector<TracePod> arrivals;
  if (order == ArrivalOrder::shuffled) {
    arrivals.assign(pods.begin(), pods.end());
    for (size_t i = arrivals.size(); i > 1; --i)
      std::swap(arrivals[i - 1], arrivals[draws.below(i)]);
    for (const TracePod& pod : arrivals) asked += milli_of(pod.ask);
    while (asked > target) {
      const auto out = static_cast<std::ptrdiff_t>(draws.below(arrivals.size()));
      asked -= milli_of(arrivals[static_cast<size_t>(out)].ask);
      arrivals.erase(arrivals.begin() + out);
    }
  }
  for (;;) {
    const TracePod& pod = pods[draws.below(pods.size())];
    if (asked + milli_of(pod.ask) > target) break;
    asked += milli_of(pod.ask);
    arrivals.push_back(pod);
  }
  return arrivals;
}

AskMix mix_of(std::span<const TracePod> pods) {
  AskMix mix;
  for (const TracePod& pod : pods) mix.observe(pod.ask);
  return mix;
}

Result<Simulation> simulate(const SimulationInput& input, Progress& progress) {
  EXA_ASSIGN(DeviceFleet fleet, DeviceFleet::build(input.nodes));
  EXA_ASSIGN(std::unique_ptr<DevicePolicy> policy, make_policy(input.policy));
  const Fragmentation fragmentation(fleet,
                                    input.mix.total() > 0 ? input.mix : mix_of(input.arrivals));
  DevicePlacer placer(fleet, std::move(policy), {input.mix, input.learns, input.seed});
  EXA_ASSIGN(const std::vector<uint32_t> numbers, numbers_of(input.arrivals, placer));

  Simulation result;
  result.policy = input.policy;
  result.seed = input.seed;
  result.nodes = static_cast<int64_t>(fleet.size());
  result.capacity_milli = fleet.capacity_milli();
  result.arrivals = static_cast<int64_t>(numbers.size());
  int64_t arrived = 0;
  int64_t next_mark = 10;
  const auto percent = [&](double milli) {
    return result.capacity_milli == 0 ? 0
                                      : 100 * milli / static_cast<double>(result.capacity_milli);
  };
  constexpr size_t kReportEvery = 256;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i % kReportEvery == 0)
      EXA_TRY(progress.step("arrivals", static_cast<int64_t>(i), result.arrivals));
    const int64_t milli = milli_of(input.arrivals[i].ask);
    arrived += milli;
    if (placer.place(numbers[i])) {
      ++result.placed;
      result.allocated_milli += milli;
    } else {
      ++result.unplaced;
      result.unplaced_milli += milli;
    }
    // the last one stands for the mark that it all but reaches: the next would have passed it
    const bool last = i + 1 == numbers.size();
    while (result.capacity_milli > 0 &&
           (arrived * 100 >= next_mark * result.capacity_milli ||
            (last && arrived * 100 >= (next_mark - 1) * result.capacity_milli))) {
      const double broken = fragmentation.ratio(fleet) * static_cast<double>(fleet.free_milli());
      result.marks.push_back({next_mark, percent(static_cast<double>(result.allocated_milli)),
                              percent(broken), result.unplaced});
      next_mark += 10;
    }
  }
  return result;
}

json::object to_json(const Simulation& simulation) {
  json::object object;
  object["policy"] = simulation.policy;
  object["seed"] = simulation.seed;
  object["nodes"] = simulation.nodes;
  object["gpus"] = number_from_milli(simulation.capacity_milli);
  object["arrivals"] = simulation.arrivals;
  object["placed"] = simulation.placed;
  object["unplaced"] = simulation.unplaced;
  object["unplaced_gpus"] = number_from_milli(simulation.unplaced_milli);
  object["allocated_gpus"] = number_from_milli(simulation.allocated_milli);
  object["allocated_gpu_percent"] = hundredths(simulation.allocated_percent());
  object["fragmented_gpu_percent"] =
      simulation.marks.empty()
          ? json::value(nullptr)
          : json::value(hundredths(simulation.marks.back().fragmented_gpu_percent));
  json::array marks;
  for (const SimulationMark& mark : simulation.marks) {
    json::object row;
    row["arrived_percent"] = mark.arrived_percent;
    row["allocated_gpu_percent"] = hundredths(mark.allocated_gpu_percent);
    row["fragmented_gpu_percent"] = hundredths(mark.fragmented_gpu_percent);
    row["unplaced"] = mark.unplaced;
    marks.push_back(std::move(row));
  }
  object["marks"] = std::move(marks);
  return object;
}

}  // namespace exa
