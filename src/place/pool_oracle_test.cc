// place() against a slow evaluation written apart from it, on 20,000 random fleets: nodes one by
// one, subsets tried out, words instead of bits, the explanation included.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "place/pool_dice_for_test.h"

namespace exa {
namespace {

using namespace samples;

const std::map<std::string, std::set<std::string>> kEngineRuns = {
    {"generic", {"nvidia", "amd", "intel-gaudi", "tpu", "cpu"}},
    {"vllm", {"nvidia", "amd"}},
    {"sglang", {"nvidia"}},
    {"ipex", {"intel-gaudi", "cpu"}}};
const std::map<std::string, int64_t> kMemory = {
    {"A100-SXM4-80GB", 80}, {"A100-PCIE-40GB", 40}, {"MI300X", 192}};
const std::map<std::string, std::set<std::string>> kCan = {{"", {}},
                                                           {"A100-SXM4-80GB", {"bf16"}},
                                                           {"A100-PCIE-40GB", {"bf16"}},
                                                           {"MI300X", {"bf16", "fp8"}}};

struct Judged {
  std::string pool;
  std::map<std::string, std::string> reasons;  // code -> text; empty text: not compared
  std::set<std::string> unsure;
  int tier = 0;
  bool price_known = true;
  int64_t price = 0;
  int64_t stranded = 0;
  int64_t held = 1000;
  bool honored = true;

  auto key() const {
    return std::make_tuple(tier, !price_known, price_known ? price : 0, stranded, pool);
  }
  bool eligible() const { return reasons.empty(); }
  bool only(const std::set<std::string>& allowed) const {
    return std::ranges::all_of(reasons, [&](const auto& r) { return allowed.contains(r.first); });
  }
};

std::string verdict_on_model(const std::string& hint, const Pool& pool) {
  const std::string family(info(pool.accelerator).name);
  if (hint == "MI300X") {
    if (family != "amd") return "no";
    return pool.model == "MI300X" ? "yes" : "perhaps";
  }
  if (family != "nvidia") return "no";
  if (pool.model.empty()) return "perhaps";
  if (hint == "A100") return "yes";
  if (hint == "A100-80GB") return pool.model == "A100-SXM4-80GB" ? "yes" : "no";
  return "no";
}

// One real node.
struct One {
  int64_t devices = 0;
  std::optional<int64_t> free, cpu, cpu_free, memory, memory_free;
};

std::vector<One> nodes_of(const Pool& pool) {
  std::vector<One> nodes;
  for (const PoolNodes& row : pool.seen->nodes)
    for (int64_t i = 0; i < row.nodes; ++i)
      nodes.push_back({row.devices, row.free, row.cpu_milli, row.cpu_free_milli, row.memory_bytes,
                       row.memory_free_bytes});
  return nodes;
}

// By trying every choice of nodes: the fewest devices that `asked` of them strand.
int64_t fewest(const std::vector<int64_t>& strands, int64_t asked) {
  int64_t best = INT64_MAX;
  for (uint32_t choice = 0; choice < (1U << strands.size()); ++choice) {
    if (__builtin_popcount(choice) != asked) continue;
    int64_t sum = 0;
    for (size_t i = 0; i < strands.size(); ++i) sum += (choice >> i & 1) != 0 ? strands[i] : 0;
    best = std::min(best, sum);
  }
  return best;
}

int64_t fit_of(const std::vector<One>& nodes, const auto& test) {
  return std::ranges::count_if(nodes, test);
}

void judge_nodes_slowly(const Workload& work, const Pool& pool, Judged& j) {
  const std::vector<One> nodes = nodes_of(pool);
  int64_t total = 0, free = 0;
  bool free_told = true;
  for (const One& node : nodes) {
    total += node.devices;
    free += node.free.value_or(0);
    if (!node.free && node.devices > 0) free_told = false;
  }
  const auto big = [&](const One& n) { return n.devices >= work.gpus; };
  const auto cpu = [&](const One& n) { return !n.cpu || *n.cpu >= work.cpu_milli; };
  const auto memory = [&](const One& n) { return !n.memory || *n.memory >= work.memory_bytes; };
  const auto all = [&](const One& n) { return big(n) && cpu(n) && memory(n); };
  const int64_t asked = work.gpus * work.nodes;
  if (total < asked) j.reasons["capacity"] = fmt::format("has {} in all, {} asked", total, asked);
  if (fit_of(nodes, big) < work.nodes) j.reasons["per-node"] = "";
  if (fit_of(nodes, cpu) < work.nodes) j.reasons["cpu"] = "";
  if (fit_of(nodes, memory) < work.nodes) j.reasons["memory"] = "";
  const bool parts = !j.reasons.contains("capacity") && !j.reasons.contains("per-node") &&
                     !j.reasons.contains("cpu") && !j.reasons.contains("memory");
  const int64_t fitting = fit_of(nodes, all);
  if (parts && fitting < work.nodes) j.reasons["together"] = "";
  for (const One& n : nodes) {
    if (!all(n)) continue;
    if (work.cpu_milli > 0 && !n.cpu) j.unsure.insert("cpu");
    if (work.memory_bytes > 0 && !n.memory) j.unsure.insert("memory_gb");
  }
  if (fitting < work.nodes || total < asked) return;
  int64_t certain = 0, perhaps = 0;
  std::vector<int64_t> strands;
  for (const One& n : nodes) {
    if (!all(n)) continue;
    if (n.free && *n.free < work.gpus) continue;
    if (n.cpu_free && *n.cpu_free < work.cpu_milli) continue;
    if (n.memory_free && *n.memory_free < work.memory_bytes) continue;
    const bool sure =
        n.free && (n.cpu_free || work.cpu_milli == 0) && (n.memory_free || work.memory_bytes == 0);
    ++(sure ? certain : perhaps);
    if (!sure) continue;
    const bool dry = (n.cpu_free && *n.cpu_free == work.cpu_milli) ||
                     (n.memory_free && *n.memory_free == work.memory_bytes);
    strands.push_back(dry ? *n.free - work.gpus : 0);
  }
  if (free_told && free < asked)
    j.reasons["busy"] = fmt::format("{} of {} free now, {} asked", free, total, asked);
  else if (certain + perhaps < work.nodes)
    j.reasons["busy"] = fmt::format("fits on {} of {} {} now, {} asked", certain, fitting,
                                    fitting == 1 ? "node" : "nodes", work.nodes);
  else if (certain < work.nodes || !free_told)
    j.unsure.insert("free");
  // too few sure ones: all of them are taken
  j.stranded = fewest(strands, std::min<int64_t>(work.nodes, static_cast<int64_t>(strands.size())));
}

// (held, what satisfies it): the ways in which a declared nvidia pool of these tests cuts.
std::vector<int64_t> held_choices(const Workload& work, const Pool& pool) {
  if (!pool.supports_fractions) return {};
  if (pool.model.empty()) return {work.fraction_milli};
  // 2g (2/7, 2/8), 4g (4/7, 4/8), 7g (all)
  const std::map<int64_t, std::vector<int64_t>> by_fraction = {
      {250, {285, 428, 500, 571, 1000}}, {500, {571, 1000}}, {700, {1000}}};
  std::vector<int64_t> choices = by_fraction.at(work.fraction_milli);
  std::erase_if(choices, [&](int64_t held) { return held == 428; });  // 3g holds 4/8 of the memory
  return choices;
}

bool hold_share_slowly(const Workload& work, const Pool& pool, Judged& j) {
  const int64_t asked = work.gpus * work.nodes;
  struct Way {
    int64_t held, total;
    std::optional<int64_t> free;
    bool node_told;
  };
  std::vector<Way> ways;
  if (pool.declared()) {
    for (const int64_t held : held_choices(work, pool)) {
      int64_t free = pool.count - pool.leases.devices;
      for (const int64_t rest : pool.leases.rests) free += rest >= held ? 1 : 0;
      if (pool.count >= asked) ways.push_back({held, pool.count, free, false});
    }
  } else {
    for (const PoolShares& s : pool.seen->shares)
      if (s.share_milli >= work.fraction_milli && s.units >= asked &&
          (!s.largest_on_node || *s.largest_on_node >= work.gpus))
        ways.push_back({s.share_milli, s.units, s.free, s.largest_on_node.has_value()});
  }
  if (ways.empty()) return false;
  const auto free_one =
      std::ranges::find_if(ways, [&](const Way& w) { return w.free && *w.free >= asked; });
  const Way& way = free_one != ways.end() ? *free_one : ways.front();
  j.held = way.held;
  if (!way.node_told && work.gpus > 1) j.unsure.insert("gpus_per_node");
  if (work.cpu_milli > 0) j.unsure.insert("cpu");
  if (work.memory_bytes > 0) j.unsure.insert("memory_gb");
  if (!way.free)
    j.unsure.insert("free");
  else if (*way.free < asked)
    j.reasons["busy"] = fmt::format("{} of {} free now, {} asked", *way.free, way.total, asked);
  return true;
}

void judge_capacity_slowly(const Workload& work, const Pool& pool, Judged& j) {
  if (!pool.declared() && !pool.seen) return;
  if (work.fraction_milli < 1000) {
    if (hold_share_slowly(work, pool, j)) return;
    j.honored = false;
  }
  if (!pool.declared()) return judge_nodes_slowly(work, pool, j);
  const int64_t asked = work.gpus * work.nodes;
  const int64_t free = pool.count - pool.leases.devices;
  if (pool.count < asked)
    j.reasons["capacity"] = fmt::format("has {} in all, {} asked", pool.count, asked);
  else if (free < asked)
    j.reasons["busy"] = fmt::format("{} of {} free now, {} asked", free, pool.count, asked);
  if (work.gpus > 1) j.unsure.insert("gpus_per_node");
  if (work.cpu_milli > 0) j.unsure.insert("cpu");
  if (work.memory_bytes > 0) j.unsure.insert("memory_gb");
}

int strictness(const std::string& label) {
  if (label.empty() || label == "open") return 0;
  if (label == "eu-only") return 1;
  return label == "no-egress" ? 2 : 3;
}

bool stopped_by_residency(const PlaceAsk& ask, const Pool& pool) {
  const int level = std::max(strictness(ask.workload.residency), strictness(ask.project_residency));
  const bool known = pool.region == "eu" || pool.region == "eu-west-2" || pool.region == "us";
  if (pool.target == Target::hpc) return level == 1 && pool.region != "eu";
  if (!ask.opted_in || level >= 2 || !known) return true;
  return level == 1 && pool.region != "eu";
}

Judged judge_slowly(const PlaceAsk& ask, const Pool& pool) {
  const Workload& work = ask.workload;
  const std::string asked_family(info(work.accelerator).name), has(info(pool.accelerator).name);
  const std::set<std::string>& runs = kEngineRuns.at(work.engine);
  Judged j;
  j.pool = pool.name;
  if (!runs.contains(asked_family)) j.reasons["not-portable"] = "";
  if (pool.drained) j.reasons["drained"] = "drained";
  if (ask.burst && pool.target == Target::hpc)
    j.reasons["target"] = "stands on premises; a burst goes to the cloud";
  if (!ask.burst && work.target != Target::any && work.target != pool.target)
    j.reasons["target"] =
        fmt::format("stands in {}, {} asked", name(pool.target), name(work.target));
  if (has != asked_family) {
    j.tier = has == "cpu" ? 2 : 1;
    if (!work.allow_fallback)
      j.reasons["accelerator"] =
          fmt::format("has {}, {} asked without fallback", has, asked_family);
    if (!runs.contains(has)) j.reasons["engine"] = "";
  }
  std::vector<std::string> lacking;
  for (const std::string& tag : work.capabilities)
    if (std::ranges::find(pool.capabilities, tag) == pool.capabilities.end() &&
        !kCan.at(pool.model).contains(tag))
      lacking.push_back(tag);
  if (!lacking.empty()) j.reasons["capability"] = "does not advertise " + join(lacking, ", ");
  if (!work.model.empty()) {
    const std::string verdict = verdict_on_model(work.model, pool);
    if (verdict == "no")
      j.reasons["model"] = pool.model.empty()
                               ? fmt::format("{} devices are no {}", has, work.model)
                               : fmt::format("has {}, {} asked", pool.model, work.model);
    if (verdict == "perhaps") j.unsure.insert("model");
  }
  if (work.gpu_memory_bytes > 0) {
    if (!kMemory.contains(pool.model))
      j.unsure.insert("gpu_memory");
    else if (kMemory.at(pool.model) * kGiB < work.gpu_memory_bytes)
      j.reasons["gpu-memory"] = fmt::format("has {} GiB on a device, {} GiB asked",
                                            kMemory.at(pool.model), work.gpu_memory_bytes / kGiB);
  }
  if (pool.declared())
    j.unsure.insert("declared_capacity");
  else if (!pool.seen)
    j.reasons["not-seen"] = fmt::format("cluster {} was never looked at", pool.cluster);
  else if (std::abs(kNow.micros - pool.seen->taken_at.micros) > minutes(15).micros)
    j.reasons["stale"] = "";
  judge_capacity_slowly(work, pool, j);
  if (stopped_by_residency(ask, pool)) j.reasons["residency"] = "";
  if (pool.price) {
    j.price_known = pool.price->currency == "USD";
    j.price = pool.price->micros * work.gpus * work.nodes * j.held / 1000;
  } else {
    j.price_known = pool.target == Target::hpc;
  }
  return j;
}

std::string refusal_slowly(const std::vector<Judged>& all, bool portable) {
  if (!portable) return "not-portable";
  if (all.empty()) return "no-pool";
  const std::vector<std::pair<std::string, std::set<std::string>>> kinds = {
      {"busy", {"busy"}},
      {"not-seen", {"busy", "stale", "not-seen"}},
      {"blocked", {"busy", "stale", "not-seen", "residency"}}};
  for (const auto& [kind, allowed] : kinds)
    for (const Judged& j : all)
      if (j.only(allowed)) return kind;
  return "impossible";
}

struct Oracle {
  std::map<std::string, Judged> judged;
  std::vector<std::string> eligible;  // in order
  std::string refusal;                // when none is
};

Oracle evaluate(const PlaceAsk& ask, const std::vector<Pool>& pools) {
  Oracle oracle;
  std::vector<Judged> all;
  for (const Pool& pool : pools) all.push_back(judge_slowly(ask, pool));
  std::ranges::sort(all, [](const Judged& a, const Judged& b) { return a.key() < b.key(); });
  for (const Judged& j : all) {
    if (j.eligible()) oracle.eligible.push_back(j.pool);
    oracle.judged[j.pool] = j;
  }
  if (oracle.eligible.empty())
    oracle.refusal =
        refusal_slowly(all, kEngineRuns.at(ask.workload.engine)
                                .contains(std::string(info(ask.workload.accelerator).name)));
  return oracle;
}

void expect_same(const Decision& decision, const Oracle& oracle) {
  std::vector<std::string> eligible;
  for (const CandidateReport& report : explain(decision)) {
    const PoolCandidate& c = decision.candidates[report.candidate];
    const Judged& j = oracle.judged.at(report.pool);
    SCOPED_TRACE(report.pool);
    std::set<std::string> codes, expected_codes, unsure;
    for (const CandidateReason& reason : report.reasons) {
      codes.emplace(name(reason.why));
      const auto text = j.reasons.find(std::string(name(reason.why)));
      if (text != j.reasons.end() && !text->second.empty()) {
        ASSERT_EQ(reason.text, text->second);
      }
    }
    for (const auto& [code, text] : j.reasons) expected_codes.insert(code);
    ASSERT_EQ(codes, expected_codes);
    for (size_t i = 0; i < kUnsures; ++i)
      if (c.unsure.has(static_cast<Unsure>(i))) unsure.emplace(name(static_cast<Unsure>(i)));
    ASSERT_EQ(unsure, j.unsure);
    ASSERT_EQ(c.tier, j.tier);
    ASSERT_EQ(c.price_known, j.price_known);
    ASSERT_EQ(c.price_micros, j.price);
    ASSERT_EQ(c.fraction_honored, j.honored);
    ASSERT_EQ(c.held_milli, j.held);
    ASSERT_EQ(c.stranded, j.stranded);
    const bool blocked = j.reasons.contains("residency");
    ASSERT_EQ(c.outcome == CandidateOutcome::blocked, blocked);
    if (c.why.empty()) eligible.push_back(report.pool);
  }
  ASSERT_EQ(eligible, oracle.eligible);
  ASSERT_EQ(chosen_pool(decision), oracle.eligible.empty() ? "" : oracle.eligible.front());
  ASSERT_EQ(decision.refusal ? std::string(name(*decision.refusal)) : "", oracle.refusal);
}

TEST(PlaceOracle, ASlowEvaluationGivesTheSameAnswerWithTheSameReasons) {
  const uint64_t seed = seed_of_run();
  std::map<std::string, int> seen;
  Dice dice(seed);
  for (int i = 0; i < kFleets; ++i) {
    SCOPED_TRACE(fmt::format("EXA_SEED={} fleet {}", seed, i));
    const std::vector<Pool> pools = any_fleet(dice);
    const PlaceAsk ask = any_ask(dice);
    const Decision decision = decide(ask, pools);
    expect_same(decision, evaluate(ask, pools));
    if (testing::Test::HasFatalFailure()) return;
    ++seen[decision.refusal ? std::string(name(*decision.refusal)) : "placed"];
  }
  // the fleets must exercise every answer
  for (const std::string_view kind :
       {"placed", "no-pool", "not-portable", "busy", "not-seen", "blocked", "impossible"})
    EXPECT_GT(seen[std::string(kind)], kFleets / 1'000) << kind << " EXA_SEED=" << seed;
}

}  // namespace
}  // namespace exa
