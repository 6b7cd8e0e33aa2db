#include "compute/gpu_choice.h"

#include <algorithm>
#include <bitset>

#include "base/error.h"

namespace exa {
namespace {

// The k largest machines are the fewest, and have `slack` GPUs more than asked for. slack is less
// than the smallest of them has, else k - 1 would do; so it is less than kMostGpus. Every other set
// of k is these with some exchanged for smaller ones, each exchange costing slack: the sets are the
// ways to spend it. A class is the machines of one GPU count.
struct Class {
  const std::vector<uint32_t>* places = nullptr;
  int64_t gpus = 0;
  int64_t in_set = 0;  // how many of it the k largest have
  int64_t taken = 0;   // promised by now
  int64_t size() const { return static_cast<int64_t>(places->size()); }
};

// How many more machines were put in than taken out, from -kMostGpus on, as a set.
constexpr int64_t kOrigin = kMostGpus;
using Balances = std::bitset<2 * kMostGpus + 1>;
using Row = std::vector<Balances>;  // by slack spent

Balances shifted(const Balances& set, int64_t by) {
  return by >= 0 ? set << static_cast<size_t>(by) : set >> static_cast<size_t>(-by);
}

class Exchanges {
 public:
  Exchanges(int64_t pivot, int64_t slack) : pivot_(pivot), slack_(slack) {}

  // The most slack that can be spent.
  int64_t most_spent(const std::vector<Class>& classes) const {
    const std::vector<Row> rows = spend(classes);
    for (int64_t spent = slack_; spent > 0; --spent)
      if (balance_at(rows.back(), spent, classes)) return spent;
    return 0;
  }

  // How many of each class such a set takes that spends exactly `spent` and takes at least what is
  // promised; nullopt: there is none.
  std::optional<std::vector<int64_t>> taking(int64_t spent,
                                             const std::vector<Class>& classes) const {
    const std::vector<Row> rows = spend(classes);
    const auto balance = balance_at(rows.back(), spent, classes);
    if (!balance) return std::nullopt;
    return traced(rows, spent, *balance, classes);
  }

 private:
  struct Range {
    int64_t least;
    int64_t most;
  };

  // Of the pivot's own class any number, at no cost: it evens out the balance.
  const Class& even_class(const std::vector<Class>& classes) const {
    return *std::ranges::find(classes, pivot_, &Class::gpus);
  }
  int64_t cost(const Class& c) const { return std::abs(c.gpus - pivot_); }
  int64_t sign(const Class& c) const { return c.gpus > pivot_ ? -1 : 1; }

  // How many of a class may be exchanged: taken out if it is larger than the pivot, else put in.
  Range range(const Class& c) const {
    if (c.gpus > pivot_) return {0, std::min(c.size() - c.taken, slack_ / cost(c))};
    return {c.taken, std::min(c.size(), slack_ / cost(c))};
  }

  std::vector<Row> spend(const std::vector<Class>& classes) const {
    std::vector<Row> rows(1, Row(static_cast<size_t>(slack_) + 1));
    rows[0][0].set(static_cast<size_t>(kOrigin));
    for (const Class& c : classes) {
      if (c.gpus == pivot_) {
        rows.push_back(rows.back());
        continue;
      }
      Row next(rows.back().size());
      const Range copies = range(c);
      for (int64_t n = copies.least; n <= copies.most; ++n)
        for (int64_t spent = n * cost(c); spent <= slack_; ++spent)
          next[static_cast<size_t>(spent)] |=
              shifted(rows.back()[static_cast<size_t>(spent - n * cost(c))], n * sign(c));
      rows.push_back(std::move(next));
    }
    return rows;
  }

  // put in - taken out that the pivot's class can even out.
  std::optional<int64_t> balance_at(const Row& row, int64_t spent,
                                    const std::vector<Class>& classes) const {
    const Class& even = even_class(classes);
    const int64_t least = std::max(even.in_set - even.size(), -kMostGpus);
    const int64_t most = std::min(even.in_set - even.taken, kMostGpus);
    for (int64_t balance = least; balance <= most; ++balance)
      if (row[static_cast<size_t>(spent)].test(static_cast<size_t>(balance + kOrigin)))
        return balance;
    return std::nullopt;
  }

  std::vector<int64_t> traced(const std::vector<Row>& rows, int64_t spent, int64_t balance,
                              const std::vector<Class>& classes) const {
    std::vector<int64_t> taken(classes.size());
    const int64_t evened = balance;
    for (size_t i = classes.size(); i-- > 0;) {
      const Class& c = classes[i];
      if (c.gpus == pivot_) {
        taken[i] = c.in_set - evened;
        continue;
      }
      const Range copies = range(c);
      int64_t n = copies.least;
      while (!came_from(rows[i], spent - n * cost(c), balance - n * sign(c))) ++n;
      EXA_ASSERT(n <= copies.most);
      spent -= n * cost(c);
      balance -= n * sign(c);
      taken[i] = c.gpus > pivot_ ? c.size() - n : n;
    }
    return taken;
  }

  static bool came_from(const Row& row, int64_t spent, int64_t balance) {
    EXA_ASSERT(spent >= 0);
    const int64_t at = balance + kOrigin;
    return at >= 0 && at <= 2 * kMostGpus &&
           row[static_cast<size_t>(spent)].test(static_cast<size_t>(at));
  }

  int64_t pivot_;  // GPUs of the smallest of the k largest
  int64_t slack_;
};

// Of all sets that spend `spent` the one whose places come first. Within a class the first machines
// are best; so each step takes the first machine of any class that some such set has room for.
// `taking` is always a set that keeps every promise: only a machine beyond it needs a search.
std::vector<int64_t> first_taking(const Exchanges& exchanges, int64_t spent,
                                  std::vector<Class> classes, int64_t machines) {
  std::vector<int64_t> taking = *exchanges.taking(spent, classes);
  std::vector<bool> is_closed(classes.size());
  for (int64_t chosen = 0; chosen < machines;) {
    size_t first = classes.size();
    for (size_t i = 0; i < classes.size(); ++i) {
      const Class& c = classes[i];
      if (is_closed[i] || c.taken == c.size()) continue;
      if (first == classes.size() ||
          (*c.places)[static_cast<size_t>(c.taken)] <
              (*classes[first].places)[static_cast<size_t>(classes[first].taken)])
        first = i;
    }
    EXA_ASSERT(first < classes.size());
    ++classes[first].taken;
    if (classes[first].taken > taking[first]) {
      if (auto other = exchanges.taking(spent, classes)) {
        taking = std::move(*other);
      } else {
        --classes[first].taken;
        is_closed[first] = true;
        continue;
      }
    }
    ++chosen;
  }
  return taking;
}

struct Largest {
  std::vector<Class> classes;  // most GPUs first
  int64_t machines = 0;
  int64_t gpus = 0;
  int64_t smallest = 0;  // GPUs of the smallest of them
};

Largest largest_of(const GpuSupply& supply, int64_t asked) {
  Largest largest;
  for (int64_t gpus = kMostGpus; gpus > 0; --gpus) {
    const auto& places = supply.by_count[static_cast<size_t>(gpus)];
    if (places.empty()) continue;
    Class c{&places, gpus};
    const int64_t missing = std::max<int64_t>(asked - largest.gpus, 0);
    c.in_set = std::min(c.size(), (missing + gpus - 1) / gpus);
    if (c.in_set > 0) largest.smallest = gpus;
    largest.machines += c.in_set;
    largest.gpus += c.in_set * gpus;
    largest.classes.push_back(c);
  }
  return largest;
}

// Exchanges machines of the largest for smaller ones; how many GPUs fewer they then have.
int64_t spend_slack(Largest& largest, int64_t slack) {
  EXA_ASSERT(slack < largest.smallest);
  if (slack == 0) return 0;
  // a class that no exchange can reach stays as it is
  std::vector<Class> within;
  int64_t machines = 0;
  const auto is_within = [&](const Class& c) {
    return std::abs(c.gpus - largest.smallest) <= slack;
  };
  for (const Class& c : largest.classes) {
    if (!is_within(c)) continue;
    within.push_back(c);
    machines += c.in_set;
  }
  const Exchanges exchanges(largest.smallest, slack);
  const int64_t spent = exchanges.most_spent(within);
  const std::vector<int64_t> taking = first_taking(exchanges, spent, within, machines);
  size_t next = 0;
  for (Class& c : largest.classes)
    if (is_within(c)) c.in_set = taking[next++];
  return spent;
}

}  // namespace

std::optional<GpuChoice> choose_gpus(const GpuSupply& supply, int64_t asked) {
  if (asked <= 0) return GpuChoice{};
  if (supply.gpus < asked) return std::nullopt;
  Largest largest = largest_of(supply, asked);
  GpuChoice choice{{}, largest.gpus};
  choice.gpus -= spend_slack(largest, largest.gpus - asked);
  for (const Class& c : largest.classes)
    choice.places.insert(choice.places.end(), c.places->begin(), c.places->begin() + c.in_set);
  std::ranges::sort(choice.places);
  return choice;
}

}  // namespace exa
