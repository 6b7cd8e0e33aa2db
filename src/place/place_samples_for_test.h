// Random fleets and asks for the tests of node and device placement. Seeds are printed on failure.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "place/device_fleet.h"
#include "place/mig.h"

namespace exa::sample {

class DeviceCases {
 public:
  explicit DeviceCases(uint64_t seed) : random_(seed) {}

  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  bool one_in(int64_t n) { return below(n) == 0; }
  template <typename T>
  T one_of(std::initializer_list<T> list) {
    return *(list.begin() + below(static_cast<int64_t>(list.size())));
  }

  // `with_mig`: some nodes have their cards in MIG mode.
  std::vector<DeviceNode> nodes(int64_t most, bool with_mig) {
    std::vector<DeviceNode> all;
    const int64_t count = 1 + below(most);
    for (int64_t i = 0; i < count; ++i) {
      DeviceNode node;
      node.name = "n" + std::to_string(100 + i);
      node.cards = one_of<int64_t>({0, 1, 2, 2, 4, 8});
      if (node.cards > 0) node.model = one_of<const char*>({"G2", "T4", "A100-SXM4-80GB"});
      node.mig = with_mig && node.model == "A100-SXM4-80GB" && one_in(2);
      node.cpu_milli = one_of<int64_t>({16'000, 32'000, 96'000});
      node.memory_bytes = one_of<int64_t>({64, 256}) * kGiB;
      node.cpu_free_milli = node.cpu_milli;
      node.memory_free_bytes = node.memory_bytes;
      node.capabilities = {"fp16"};
      if (node.model == "A100-SXM4-80GB") node.capabilities = {"fp16", "bf16"};
      if (one_in(3)) node.groups = {"rack-a"};
      all.push_back(std::move(node));
    }
    return all;
  }

  DeviceAsk ask(bool with_mig) {
    DeviceAsk ask;
    ask.cpu_milli = one_of<int64_t>({0, 1'000, 3'152, 8'000, 11'300, 18'708});
    ask.memory_bytes = one_of<int64_t>({0, 4, 16, 48}) * kGiB;
    ask.devices = one_of<int64_t>({0, 1, 1, 1, 1, 2, 4});
    if (ask.devices == 1) ask.share_milli = one_of<int64_t>({1000, 1000, 470, 810, 320, 230, 160});
    if (ask.devices == 2 && one_in(4)) ask.share_milli = 500;
    if (ask.devices > 0 && one_in(4)) ask.models = {one_of<const char*>({"G2", "T4", "A100"})};
    if (ask.devices > 0 && ask.models.empty() && one_in(6)) ask.capabilities = {"bf16"};
    if (one_in(6)) {
      ask.group = "rack-a";
      ask.group_required = one_in(2);
    }
    if (with_mig && one_in(3)) {
      ask.mig = one_of<MigSlices>({{1, 1}, {1, 2}, {2, 2}, {3, 4}, {4, 4}, {7, 8}});
      ask.devices = 1 + below(2);
      ask.share_milli = kWholeDevice;
      ask.models.clear();
    }
    if (one_in(8)) ask.nodes = 2 + below(3);
    return ask;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace exa::sample
