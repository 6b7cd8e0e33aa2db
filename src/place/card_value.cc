#include "place/card_value.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace exa {
namespace {

constexpr double kSmall = 1e-9;
constexpr int kMostRounds = 1000;  // a mix of twenty sizes needs some fifty
constexpr size_t kNone = SIZE_MAX;

struct Knapsack {
  std::array<double, kWholeDevice + 1> worth{};
  std::array<size_t, kWholeDevice + 1> last{};  // the share added last; kNone: none
};

Knapsack best_cuts(std::span<const ShareDemand> demand, const std::vector<double>& prices) {
  Knapsack sack;
  sack.last[0] = kNone;
  for (size_t size = 1; size < sack.worth.size(); ++size) {
    sack.worth[size] = sack.worth[size - 1];
    sack.last[size] = kNone;
    for (size_t i = 0; i < demand.size(); ++i) {
      const auto share = static_cast<size_t>(demand[i].share_milli);
      if (share > size) continue;
      const double worth = sack.worth[size - share] + prices[i];
      if (worth > sack.worth[size] + 1e-12) {
        sack.worth[size] = worth;
        sack.last[size] = i;
      }
    }
  }
  return sack;
}

std::vector<double> cuts_of(const Knapsack& sack, std::span<const ShareDemand> demand) {
  std::vector<double> cuts(demand.size(), 0);
  for (size_t size = kWholeDevice; size > 0;) {
    const size_t i = sack.last[size];
    if (i == kNone) {
      --size;
    } else {
      cuts[i] += 1;
      size -= static_cast<size_t>(demand[i].share_milli);
    }
  }
  return cuts;
}

// The basis of the linear program as its inverse: row i is the pattern that is i-th in the basis.
class Cutting {
 public:
  explicit Cutting(std::span<const ShareDemand> demand) : demand_(demand), size_(demand.size()) {
    inverse_.assign(size_, std::vector<double>(size_, 0));
    for (size_t i = 0; i < size_; ++i) {
      const int64_t fit = kWholeDevice / demand[i].share_milli;
      inverse_[i][i] = 1.0 / static_cast<double>(fit);
      used_.push_back(static_cast<double>(demand[i].count) * inverse_[i][i]);
    }
  }

  std::vector<double> prices() const {
    std::vector<double> prices(size_, 0);
    for (size_t j = 0; j < size_; ++j) {
      for (size_t i = 0; i < size_; ++i) prices[j] += inverse_[i][j];
      prices[j] = std::max(prices[j], 0.0);
    }
    return prices;
  }

  // Brings a pattern into the basis; false when that changes nothing.
  bool enter(const std::vector<double>& cuts) {
    std::vector<double> column(size_, 0);
    for (size_t i = 0; i < size_; ++i)
      for (size_t j = 0; j < size_; ++j) column[i] += inverse_[i][j] * cuts[j];
    size_t leaving = kNone;
    double least = 0;
    for (size_t i = 0; i < size_; ++i) {
      if (column[i] <= kSmall) continue;
      const double ratio = used_[i] / column[i];
      if (leaving == kNone || ratio < least - 1e-12) {
        least = ratio;
        leaving = i;
      }
    }
    if (leaving == kNone) return false;
    for (size_t i = 0; i < size_; ++i)
      if (i != leaving) used_[i] = std::max(0.0, used_[i] - least * column[i]);
    used_[leaving] = least;
    for (double& cell : inverse_[leaving]) cell /= column[leaving];
    for (size_t i = 0; i < size_; ++i)
      if (i != leaving)
        for (size_t j = 0; j < size_; ++j) inverse_[i][j] -= column[i] * inverse_[leaving][j];
    return true;
  }

 private:
  std::span<const ShareDemand> demand_;
  size_t size_;
  std::vector<std::vector<double>> inverse_;
  std::vector<double> used_;
};

}  // namespace

CardValue card_value(std::span<const ShareDemand> demand) {
  CardValue value{};
  if (demand.empty()) {
    for (size_t size = 0; size < value.size(); ++size)
      value[size] = static_cast<int32_t>(size * 1000);
    return value;
  }
  Cutting cutting(demand);
  Knapsack sack = best_cuts(demand, cutting.prices());
  for (int round = 0; round < kMostRounds && sack.worth[kWholeDevice] > 1 + kSmall; ++round) {
    if (!cutting.enter(cuts_of(sack, demand))) break;
    sack = best_cuts(demand, cutting.prices());
  }
  for (size_t size = 0; size < value.size(); ++size)
    value[size] = static_cast<int32_t>(std::lround(1e6 * std::min(1.0, sack.worth[size])));
  value[kWholeDevice] = 1'000'000;
  return value;
}

}  // namespace exa
