// The selection beside every possible one: small fleets, all subsets, the rules as their text has
// them and nothing of the search's code.
#include <bit>
#include <random>

#include <gmock/gmock.h>

#include "base/quantity.h"
#include "compute/machines_for_test.h"

namespace exa {
namespace {

constexpr int kFleets = 20'000;
constexpr unsigned kSeed = 20'261'130;

// A machine as its owner describes it; the id is its letter.
struct Box {
  char id = 'a';
  int64_t gpus = 0;
  int family = 0;  // 0: H100, 1: A100
  int64_t gigabytes = 80;
  std::optional<bool> control_plane_tag;
  std::optional<bool> worker_tag;
  bool is_reserved = true;  // palette.ai: true
  bool is_used = false;
  int pool = 0;
  int64_t free = 0;
};

struct Question {
  int64_t gpus[2] = {0, 0};
  int64_t gigabytes = 0;
  int64_t minimum = 0;
  int64_t control_planes = 1;
  bool works = false;
  bool is_shared = false;
  int control_pool = 0;  // 0: any
  int worker_pool = 0;
};

struct Answer {
  bool met = false;
  std::vector<size_t> control_plane;
  std::vector<size_t> workers;
  std::vector<ChosenAs> as;
  std::vector<int64_t> gpus;
  int64_t leftover = 0;
  int64_t filler = 0;
  bool operator==(const Answer&) const = default;
};

constexpr const char* kFamilies[] = {"NVIDIA H100", "NVIDIA A100"};

// --- the oracle

class Oracle {
 public:
  Oracle(const std::vector<Box>& boxes, const Question& question) : boxes_(boxes), ask_(question) {}

  Answer answer() const {
    const bool one_works = ask_.works && ask_.control_planes == 1;
    if (!one_works && ask_.gpus[0] + ask_.gpus[1] == 0 && ask_.minimum == 0) return nothing();
    std::vector<size_t> able;
    for (size_t i = 0; i < boxes_.size(); ++i)
      if (may_control(boxes_[i], one_works)) able.push_back(i);
    if (one_works) return best_of(able);
    std::ranges::stable_sort(able, {}, [&](size_t i) { return boxes_[i].gpus; });
    if (static_cast<int64_t>(able.size()) < ask_.control_planes) return nothing();
    able.resize(static_cast<size_t>(ask_.control_planes));
    return with(able, false);
  }

 private:
  Answer nothing() const {
    return {
        false, {}, {}, std::vector<ChosenAs>(boxes_.size()), std::vector<int64_t>(boxes_.size()),
        0,     0};
  }

  static bool is_worker(const Box& box) {
    if (box.worker_tag == true) return true;
    if (box.control_plane_tag == true) return false;
    return box.gpus > 0 && box.worker_tag != false;
  }
  static bool is_control_plane(const Box& box) {
    if (box.worker_tag == true) return false;
    if (box.control_plane_tag == true) return true;
    return box.gpus == 0 && box.control_plane_tag != false;
  }
  static bool in_pool(const Box& box, int pool) { return pool == 0 || box.pool == pool; }
  static bool is_free(const Box& box) { return box.is_reserved && !box.is_used; }
  bool may_work(const Box& box) const {
    return is_free(box) && is_worker(box) && in_pool(box, ask_.worker_pool);
  }
  bool may_control(const Box& box, bool works) const {
    return is_free(box) && is_control_plane(box) && in_pool(box, ask_.control_pool) &&
           (!works || in_pool(box, ask_.worker_pool));
  }
  // GPUs of a family asked for, large enough, free.
  int64_t gives(const Box& box, int family) const {
    if (box.gpus == 0 || box.family != family || ask_.gpus[family] == 0) return 0;
    if (box.gigabytes < ask_.gigabytes) return 0;
    return ask_.is_shared ? box.free : box.gpus;
  }
  int64_t gives(const Box& box) const { return gives(box, 0) + gives(box, 1); }

  // Every subset; fewest machines, fewest GPUs, then ids.
  std::optional<uint32_t> gpu_workers(int family, int64_t wanted) const {
    if (wanted <= 0) return 0;
    std::optional<uint32_t> best;
    std::pair<int, int64_t> best_rank;
    for (uint32_t set = 0; set < 1U << boxes_.size(); ++set) {
      int64_t sum = 0;
      bool all_give = true;
      for (size_t i = 0; i < boxes_.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        const int64_t gpus = may_work(boxes_[i]) ? gives(boxes_[i], family) : 0;
        all_give = all_give && gpus > 0;
        sum += gpus;
      }
      if (!all_give || sum < wanted) continue;
      const std::pair rank{std::popcount(set), sum};
      const bool comes_first = best && rank == best_rank && comes_before(set, *best);
      if (!best || rank < best_rank || comes_first) {
        best = set;
        best_rank = rank;
      }
    }
    return best;
  }
  // Of two sets of one size: whose sorted ids come first has the first machine that only one has.
  static bool comes_before(uint32_t a, uint32_t b) {
    const uint32_t different = a ^ b;
    return (a & (different & (~different + 1))) != 0;
  }

  int step(const Box& box) const {
    if (box.worker_tag == true) return 2;
    return ask_.gpus[box.family] > 0 && box.gpus > 0 ? 3 : 4;
  }

  Answer with(const std::vector<size_t>& control, bool works) const {
    Answer answer = nothing();
    int64_t wanted[2] = {ask_.gpus[0], ask_.gpus[1]};
    const auto take = [&](size_t i, ChosenAs as) {
      answer.as[i] = as;
      const bool counts = as == ChosenAs::gpu_worker || as == ChosenAs::control_plane_and_worker;
      int64_t given = counts ? gives(boxes_[i]) : 0;
      int64_t& rest = wanted[boxes_[i].family];
      if (ask_.is_shared) given = std::min(given, rest);
      rest -= given;
      answer.gpus[i] = ask_.is_shared ? given : boxes_[i].gpus;
    };
    for (const size_t i : control)
      take(i, works ? ChosenAs::control_plane_and_worker : ChosenAs::control_plane);
    for (const int family : {0, 1}) {
      const auto set = gpu_workers(family, wanted[family]);
      if (!set) return nothing();
      for (size_t i = 0; i < boxes_.size(); ++i)
        if ((*set >> i & 1) != 0) take(i, ChosenAs::gpu_worker);
    }
    answer.leftover = -wanted[0] - wanted[1];
    int64_t workers = std::ranges::count(answer.as, ChosenAs::gpu_worker) + (works ? 1 : 0);
    for (; workers < ask_.minimum; ++workers) {
      std::optional<size_t> next;
      const auto rank = [&](size_t i) { return std::pair{step(boxes_[i]), boxes_[i].gpus}; };
      for (size_t i = 0; i < boxes_.size(); ++i)
        if (answer.as[i] == ChosenAs::not_chosen && may_work(boxes_[i]) &&
            (!next || rank(i) < rank(*next)))
          next = i;
      if (!next) return nothing();
      constexpr ChosenAs kSteps[] = {ChosenAs::worker_tagged, ChosenAs::requested_family,
                                     ChosenAs::any_family};
      take(*next, kSteps[step(boxes_[*next]) - 2]);
      answer.filler += answer.gpus[*next];
    }
    answer.met = true;
    answer.control_plane = control;
    std::ranges::sort(answer.control_plane);
    for (size_t i = 0; i < boxes_.size(); ++i)
      if (answer.as[i] != ChosenAs::not_chosen && answer.as[i] != ChosenAs::control_plane)
        answer.workers.push_back(i);
    return answer;
  }

  Answer best_of(const std::vector<size_t>& able) const {
    Answer best = nothing();
    std::pair<size_t, int64_t> best_rank;
    for (const size_t i : able) {
      Answer answer = with({i}, true);
      int64_t held = 0;
      for (const int64_t gpus : answer.gpus) held += gpus;
      const std::pair rank{answer.workers.size(), held};
      if (!answer.met || (best.met && rank >= best_rank)) continue;
      best = std::move(answer);
      best_rank = rank;
    }
    return best;
  }

  const std::vector<Box>& boxes_;
  const Question& ask_;
};

// --- both asked the same

MachineReport report_of(const Box& box) {
  Tags tags;
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  if (box.control_plane_tag)
    tags.emplace_back("palette.ai/control-plane", flag(*box.control_plane_tag));
  if (box.worker_tag) tags.emplace_back("palette.ai/worker", flag(*box.worker_tag));
  if (box.pool > 0) tags.emplace_back("palette.ai.rg/pool", std::to_string(box.pool));
  const std::string id(1, box.id);
  MachineReport report = box.gpus == 0 ? cpu_report(id, 4, tags)
                                       : gpu_report(id, kFamilies[box.family], box.gpus, tags);
  if (box.gpus > 0) report.gpus->front().memory_bytes = box.gigabytes * kGiB;
  if (!box.is_reserved)
    std::erase_if(report.tags, [](const auto& tag) { return tag.first == "palette.ai"; });
  return report;
}

Answer selected(const std::vector<Box>& boxes, const Question& question, std::mt19937& random) {
  SelectionAsk ask;
  for (const int family : {1, 0})  // sorted by key
    if (question.gpus[family] > 0)
      ask.gpus.emplace_back(gpu_family(kFamilies[family]), question.gpus[family]);
  ask.gpu_memory_bytes = question.gigabytes * kGiB;
  ask.minimum_workers = question.minimum;
  ask.control_planes = question.control_planes;
  ask.control_plane_works = question.works;
  ask.mode = question.is_shared ? AllocationMode::shared : AllocationMode::dedicated;
  if (question.control_pool > 0)
    ask.control_plane_groups = {{"pool", std::to_string(question.control_pool)}};
  if (question.worker_pool > 0)
    ask.worker_groups = {{"pool", std::to_string(question.worker_pool)}};
  std::vector<MachineReport> reports;
  for (const Box& box : boxes) reports.push_back(report_of(box));
  std::ranges::shuffle(reports, random);
  TestFleet fleet(reports);
  for (size_t i = 0; i < boxes.size(); ++i) {
    fleet.rows[i].free_gpus = boxes[i].free;
    if (boxes[i].is_used) fleet.rows[i].unavailable = "in use by ml-1";
  }
  const Selection selection = select_machines(fleet.rows, ask);
  const auto places = [](const std::vector<std::string>& ids) {
    std::vector<size_t> list;
    for (const std::string& id : ids) list.push_back(static_cast<size_t>(id[0] - 'a'));
    return list;
  };
  Answer answer{selection.met,
                places(selection.control_plane),
                places(selection.workers),
                {},
                {},
                selection.leftover_gpus,
                selection.filler_gpus};
  for (const MachineVerdict& verdict : selection.machines) {
    EXPECT_FALSE(verdict.why.empty());
    answer.as.push_back(verdict.as);
    answer.gpus.push_back(verdict.gpus);
  }
  EXPECT_EQ(selection.met, selection.shortages.empty());
  return answer;
}

struct Drawn {
  std::mt19937& random;
  int64_t upto(int64_t most) { return static_cast<int64_t>(random() % (most + 1)); }
  bool once_in(unsigned n) { return random() % n == 0; }
  std::optional<bool> tag() {
    if (random() % 4 != 0) return std::nullopt;
    return random() % 3 != 0;
  }

  Box box(char id) {
    constexpr int64_t kUsual[] = {0, 0, 1, 2, 4, 8};
    Box box;
    box.id = id;
    box.gpus = once_in(3) ? upto(9) : kUsual[random() % 6];
    box.family = once_in(3) ? 1 : 0;
    box.gigabytes = box.family == 1 && once_in(2) ? 40 : 80;
    box.control_plane_tag = tag();
    box.worker_tag = tag();
    box.is_reserved = !once_in(12);
    box.is_used = once_in(12);
    box.pool = static_cast<int>(upto(2));
    box.free = upto(box.gpus);
    return box;
  }

  Question question() {
    Question ask;
    if (!once_in(6)) ask.gpus[0] = 1 + upto(once_in(3) ? 19 : 9);
    if (once_in(5)) ask.gpus[1] = 1 + upto(7);
    if (once_in(6)) ask.gigabytes = 60;
    ask.minimum = once_in(2) ? 0 : upto(4);
    ask.control_planes = once_in(12) ? 3 : 1;
    ask.works = once_in(3);
    ask.is_shared = once_in(3);
    if (once_in(10)) ask.control_pool = 1;
    if (once_in(10)) ask.worker_pool = static_cast<int>(1 + upto(1));
    return ask;
  }
};

TEST(SelectionOracle, EveryPossibleSetAndTheSelectionAgree) {
  std::mt19937 random(kSeed);
  Drawn draw{random};
  int met = 0;
  for (int n = 0; n < kFleets; ++n) {
    std::vector<Box> boxes;
    const auto size = static_cast<size_t>(draw.once_in(8) ? draw.upto(9) : 7 + draw.upto(2));
    for (size_t i = 0; i < size; ++i) boxes.push_back(draw.box(static_cast<char>('a' + i)));
    const Question question = draw.question();
    const Answer expected = Oracle(boxes, question).answer();
    ASSERT_EQ(selected(boxes, question, random), expected) << "seed " << kSeed << ", fleet " << n;
    met += expected.met ? 1 : 0;
  }
  // neither answer is the rule
  EXPECT_GT(met, kFleets / 5);
  EXPECT_LT(met, kFleets / 5 * 4);
}

}  // namespace
}  // namespace exa
