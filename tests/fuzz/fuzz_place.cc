// Any JSON as a workload, a pool and a selector: every problem with its place, or values that are
// written and read back unchanged and get a decision that explains every pool.
#include "place/pool_explain.h"
#include "place/pool_seen.h"

namespace exa {
namespace {

constexpr Time kNow{1'800'000'000'000'000};

void check_problems(const Error& error) {
  EXA_ASSERT(!error.problems.empty() || !error.message.empty());
  for (const Problem& problem : error.problems) EXA_ASSERT(!problem.message.empty());
}

void check_decision(const Workload& workload, const Pool& pool) {
  Pool other;
  other.name = pool.name == "other" ? "another" : "other";
  other.accelerator = Family::amd;
  other.count = 4;
  other.supports_fractions = true;
  const auto decision = place({.workload = workload}, build_pools({pool, other}), kNow);
  EXA_ASSERT(decision);
  EXA_ASSERT(decision->chosen.has_value() != decision->refusal.has_value());
  EXA_ASSERT(decision->candidates.size() == 2);
  for (const PoolCandidate& candidate : decision->candidates) {
    const bool eligible = candidate.outcome == CandidateOutcome::chosen ||
                          candidate.outcome == CandidateOutcome::eligible;
    EXA_ASSERT(eligible == candidate.why.empty());
    EXA_ASSERT(candidate.held_milli >= workload.fraction_milli || !eligible);
  }
  EXA_ASSERT(!to_text(*decision).empty() && !to_text(to_json(*decision)).empty());
}

void check_pair(const json::object& input) {
  const json::value* asked = input.if_contains("workload");
  const json::value* given = input.if_contains("pool");
  std::optional<Workload> workload;
  std::optional<Pool> pool;
  if (asked != nullptr && asked->is_object()) {
    const auto read = read_workload(asked->get_object(), shipped_engines());
    if (!read) {
      check_problems(read.error());
    } else {
      EXA_ASSERT(read_workload(to_json(*read), shipped_engines()) == *read);
      workload = *read;
    }
  }
  if (given != nullptr && given->is_object()) {
    const auto read = merge_pool(nullptr, given->get_object());
    if (!read) {
      check_problems(read.error());
    } else {
      EXA_ASSERT(pool_from_json(to_json(*read)) == *read);
      pool = *read;
    }
  }
  if (workload && pool) check_decision(*workload, *pool);
}

void check_selector(std::string_view text) {
  const auto selector = NodeSelector::parse(text);
  if (!selector) return check_problems(selector.error());
  Node node;
  node.labels = {{"zone", "a"}};
  node.features = {"ssd"};
  static_cast<void>(selector->matches(node));
}

}  // namespace
}  // namespace exa

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace exa;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (size > 0 && text[0] != '{') {
    check_selector(text);
    return 0;
  }
  const auto value = parse_json(text, "input");
  if (value && value->is_object()) check_pair(value->get_object());
  return 0;
}
