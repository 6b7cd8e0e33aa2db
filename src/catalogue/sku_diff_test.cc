#include "catalogue/sku_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalogue/skus_for_test.h"

namespace exa {
namespace {

using sample::full_sku;
using sample::sku_of;
using sample::sku_with;

std::string words_after(std::string_view members) {
  return in_words(diff(sku_of(full_sku()), sku_of(sku_with(members))));
}

TEST(SkuDiff, SaysInWordsWhatANewVersionChanges) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"{}", ""},
      {R"({"display_name": "Big"})", "called Medium → Big"},
      {R"({"readme": "x", "description": "y", "icon_url": null})",
       "description reworded; another icon; readme reworded"},
      // what changes nothing is left out beside what does
      {R"({"readme": "x", "allocation": "shared"})", "allocation dedicated → shared"},
      {R"({"environment_template": {"name": "gpu-vm", "version": "v2"}})",
       "environment template gpu-vm v1.2 → gpu-vm v2"},
      {R"({"price_per_hour": null})", "price an hour 2.5 EUR → unknown"},
      {R"({"price_per_hour": {"amount": 3, "currency": "EUR"}})", "price an hour 2.5 EUR → 3 EUR"},
      {R"({"labels": {"team": "x", "tier": "hot"}, "annotations": {}})",
       "label team ml → x; new label tier: hot; annotation example.com/note is gone"},
      {R"({"shape": {"accelerator_family": "nvidia", "accelerator_model_hint": "A100",
           "gpu_count": 4, "cpu": 8, "memory_gb": 64}})",
       "GPUs per node 2 → 4; memory 32 → 64 GiB"},
      {R"({"inputs": [{"name": "gpu_count", "type": "number", "min": 1, "max": 4, "step": 1,
           "default": 1, "label": "GPUs"}, {"name": "image", "default": "ubuntu"},
           {"name": "zone", "override": "restricted", "allowed_values": ["a"]}]})",
       "default of input gpu_count 2 → 1; input gpu_count now at most 4; input image now free; "
       "input password is gone; new input zone"},
      {R"({"inputs": [{"name": "gpu_count", "type": "number", "override": "notallowed",
           "default": 4}, {"name": "image", "override": "restricted", "allowed_values": ["a", "b"],
           "default": "a", "required": true}, {"name": "password", "type": "secret",
           "depends_on": {"input": "image", "values": ["b"]}}]})",
       "input gpu_count now fixed at 4; input gpu_count no longer limited from below; input "
       "gpu_count "
       "no longer limited from above; step of input gpu_count 1 → none; input image now required; "
       "default of input image ubuntu → a; input image now of a list; input image now one of a, b; "
       "input password no longer required; input password asked for only while image is b"},
      {R"({"outputs": [{"name": "address"}, {"name": "token"}]})",
       "output token no longer a secret"},
  };
  for (const auto& [members, words] : kCases) EXPECT_EQ(words_after(members), words) << members;
}

TEST(SkuDiff, TellsWhatNamedHardwareProfilesDifferIn) {
  const ComputeSku before = sku_of(sku_with(R"({"shape": null, "hardware_profile": "m@1"})"));
  const ComputeSku after = sku_of(sku_with(R"({"shape": null, "hardware_profile": "m@2"})"));
  Shape small;
  small.memory_bytes = int64_t{32} << 30;
  Shape large = small;
  large.memory_bytes = int64_t{64} << 30;
  EXPECT_EQ(in_words(diff(before, after, &small, &large)),
            "hardware profile m@1 → m@2; memory 32 → 64 GiB");
  // where one of the two is not known, nothing is made up
  EXPECT_EQ(in_words(diff(before, after, &small)), "hardware profile m@1 → m@2");
}

TEST(SkuDiff, IsDataToo) {
  const auto changes =
      diff(sku_of(full_sku()), sku_of(sku_with(R"({"allocation": "shared", "readme": null})")));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(to_text(to_json(changes[0])),
            R"({"where":"/allocation","before":"dedicated","after":"shared",)"
            R"("text":"allocation dedicated → shared","changes_the_instance":true})");
  EXPECT_FALSE(changes[1].changes_the_instance);
}

}  // namespace
}  // namespace exa
