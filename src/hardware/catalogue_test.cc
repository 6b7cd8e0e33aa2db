#include "hardware/catalogue.h"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "base/quantity.h"

namespace exa {

void PrintTo(const Match& match, std::ostream* out) {
  *out << (match == Match::confirmed      ? "confirmed"
           : match == Match::contradicted ? "contradicted"
                                          : "not_reported");
}

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> meant(std::string_view text) {
  std::vector<std::string> names;
  for (const DeviceModel* row : models_meant(text)) names.emplace_back(row->name);
  return names;
}

std::vector<std::string> all_texts() {
  std::vector<std::string> texts;
  for (const DeviceModel& row : catalogue()) {
    texts.emplace_back(row.name);
    texts.emplace_back(row.series);
    for (std::string_view alias : row.aliases) texts.emplace_back(alias);
  }
  return texts;
}

TEST(Normalise, CaseAndSeparatorsDoNotCount) {
  for (const char* text :
       {"NVIDIA A100-SXM4-80GB", "nvidia_a100-sxm4-80gb", "A100 SXM4 80GB", "  a100__sxm4--80gb "})
    EXPECT_EQ(normalise_model(text), "a100-sxm4-80gb") << text;
}

TEST(Normalise, VendorWordsAreDroppedFromTheFrontOnly) {
  EXPECT_EQ(normalise_model("AMD Instinct MI300X"), "mi300x");
  EXPECT_EQ(normalise_model("nvidia-tesla-t4"), "t4");
  EXPECT_EQ(normalise_model("Intel(R) Data Center GPU Flex 170"), "data-center-gpu-flex-170");
  EXPECT_EQ(normalise_model("NVIDIA"), "nvidia");
  EXPECT_EQ(normalise_model(""), "");
}

TEST(Normalise, OfAChipNameTheProductInBracketsCounts) {
  EXPECT_EQ(normalise_model("Arcturus GL-XL [Instinct MI100]"), "mi100");
  EXPECT_EQ(normalise_model("GH100 [H100 PCIe]"), "h100-pcie");
}

struct Printed {
  const char* text;
  std::vector<std::string> rows;
};

TEST(Catalogue, KnowsNamesAsToolsPrintThem) {
  const Printed cases[] = {
      // nvidia-smi
      {"NVIDIA A100-SXM4-40GB", {"A100-SXM4-40GB"}},
      {"NVIDIA A100 80GB PCIe", {"A100-PCIE-80GB"}},
      {"NVIDIA H100 80GB HBM3", {"H100-SXM5-80GB"}},
      {"NVIDIA H100 PCIe", {"H100-PCIE-80GB"}},
      {"NVIDIA H100 NVL", {"H100-NVL-94GB"}},
      {"NVIDIA H200", {"H200-SXM5-141GB", "H200-NVL-141GB"}},
      {"NVIDIA L40S", {"L40S"}},
      {"NVIDIA A10G", {"A10G"}},
      {"Tesla T4", {"T4"}},
      {"Tesla P100-PCIE-16GB", {"P100-PCIE-16GB"}},
      {"Tesla V100-SXM2-32GB", {"V100-SXM2-32GB"}},
      {"NVIDIA GeForce RTX 4090", {"RTX-4090"}},
      {"NVIDIA RTX 6000 Ada Generation", {"RTX-6000-Ada"}},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", {"RTX-PRO-6000-Blackwell-Server"}},
      {"NVIDIA GH200 480GB", {"GH200-96GB"}},
      {"NVIDIA B300 SXM6 AC", {"B300"}},
      // Slurm GRES types
      {"a100", {"A100-PCIE-40GB", "A100-PCIE-80GB", "A100-SXM4-40GB", "A100-SXM4-80GB"}},
      {"nvidia_a100-sxm4-80gb", {"A100-SXM4-80GB"}},
      {"nvidia_a100_80gb_pcie", {"A100-PCIE-80GB"}},
      {"l40s", {"L40S"}},
      {"mi300x", {"MI300X"}},
      {"gaudi2", {"Gaudi-2"}},
      // Kubernetes labels
      {"NVIDIA-A100-SXM4-80GB", {"A100-SXM4-80GB"}},
      {"NVIDIA-H100-80GB-HBM3", {"H100-SXM5-80GB"}},
      {"NVIDIA-RTX-4000-Ada-Generation", {"RTX-4000-Ada"}},
      {"AMD_Instinct_MI300X_OAM", {"MI300X"}},
      {"Flex_170", {"Flex-170"}},
      {"Max_1550", {"Max-1550"}},
      {"nvidia-l4", {"L4"}},
      {"nvidia-tesla-t4", {"T4"}},
      {"nvidia-h100-80gb", {"H100-PCIE-80GB", "H100-SXM5-80GB"}},
      {"nvidia-h100-mega-80gb", {"H100-SXM5-80GB"}},
      {"nvidia-a100-80gb", {"A100-PCIE-80GB", "A100-SXM4-80GB"}},
      {"nvidia-h200-141gb", {"H200-SXM5-141GB", "H200-NVL-141GB"}},
      {"tpu-v5-lite-podslice", {"TPU-v5e"}},
      {"tpu-v5p-slice", {"TPU-v5p"}},
      {"tpu-v6e-slice", {"TPU-v6e"}},
      {"tpu7x", {"TPU-v7x"}},
      // ROCm, hl-smi, the PCI id list
      {"AMD Instinct MI210", {"MI210"}},
      {"Arcturus GL-XL [Instinct MI100]", {"MI100"}},
      {"Radeon Instinct MI50 32GB", {"MI50-32GB"}},
      {"Navi 22 [Radeon RX 6700/6700 XT / 6800M]", {"RX-6700", "RX-6700-XT", "RX-6800M"}},
      {"Aldebaran/MI200 [Instinct MI250X/MI250]", {"MI250", "MI250X"}},
      {"HL-225", {"Gaudi-2"}},
      {"HL-325L", {"Gaudi-3-OAM"}},
      {"HL-338", {"Gaudi-3-PCIe"}},
      {"gaudi3", {"Gaudi-3-OAM", "Gaudi-3-PCIe"}},
      {"GA100GL [A30 PCIe]", {"A30"}},
      // what people write
      {"A100-80GB", {"A100-PCIE-80GB", "A100-SXM4-80GB"}},
      {"A100-PCIE", {"A100-PCIE-40GB", "A100-PCIE-80GB"}},
      {"L4-24GB", {"L4"}},
      {"MI300X-192GB", {"MI300X"}},
      {"RX 6700 XT", {"RX-6700-XT"}},
      {"RX 6700", {"RX-6700"}},
  };
  for (const Printed& c : cases)
    EXPECT_THAT(meant(c.text), testing::UnorderedElementsAreArray(c.rows)) << c.text;
}

TEST(Catalogue, ASubstringNeverDecides) {
  EXPECT_THAT(meant("A10"), ElementsAre("A10"));
  EXPECT_THAT(meant("A10G"), ElementsAre("A10G"));
  EXPECT_THAT(meant("L4"), ElementsAre("L4"));
  EXPECT_THAT(meant("L40"), ElementsAre("L40"));
  EXPECT_THAT(meant("H20"), ElementsAre("H20"));
  EXPECT_THAT(meant("B200"), ElementsAre("B200"));
  for (const char* text :
       {"A1", "A100X", "A1000", "A2000", "H10", "L", "100", "80GB", "SXM4", "V100S", "RTX 6000",
        "RTX 3090 Ti", "MI30", "NVIDIA-A16-4Q", "gpu", "n/a"})
    EXPECT_THAT(meant(text), IsEmpty()) << text;
}

TEST(Catalogue, AFamilyWordMeansEveryRowOfTheFamily) {
  EXPECT_EQ(meant("tpu"), canonical_model_names(Family::tpu));
  EXPECT_EQ(meant("NVIDIA"), canonical_model_names(Family::nvidia));
  EXPECT_EQ(meant("intel-gaudi"), canonical_model_names(Family::intel_gaudi));
}

TEST(Catalogue, EveryNameOfARowMeansThatRow) {
  for (const DeviceModel& row : catalogue()) {
    const std::string name(row.name);
    EXPECT_THAT(meant(row.name), ElementsAre(name));
    EXPECT_THAT(meant(row.series), Contains(name));
    for (std::string_view alias : row.aliases) EXPECT_THAT(meant(alias), Contains(name)) << alias;
  }
}

TEST(Catalogue, ANameMeansTheSameInAnyCaseAndWithAnySeparators) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (const std::string& text : all_texts()) {
    if (text.find_first_of("[]/()") != std::string::npos) continue;
    for (int round = 0; round < 20; ++round) {
      std::string other;
      for (char c : text) {
        if (c == ' ' || c == '-' || c == '_')
          other += std::string(1 + random() % 2, " -_"[random() % 3]);
        else
          other += static_cast<char>(random() % 2 ? std::toupper(c) : std::tolower(c));
      }
      if (random() % 2) other = "NVIDIA " + other;
      EXPECT_EQ(meant(other), meant(text)) << other;
    }
  }
}

TEST(Catalogue, NamesAreUniqueAndSizesAreConsistent) {
  std::set<std::string> names;
  for (const DeviceModel& row : catalogue()) {
    EXPECT_TRUE(names.insert(normalise_model(row.name)).second) << row.name;
    EXPECT_GT(row.sold_memory_bytes, 0) << row.name;
    EXPECT_FALSE(row.capabilities.empty()) << row.name;
    EXPECT_TRUE(row.mig_profiles.empty() || info(row.family).has_mig) << row.name;
    // A tool prints at most what the label says, and of a board's dies at least half of it.
    EXPECT_LE(row.reported_memory_bytes, row.sold_memory_bytes) << row.name;
    if (row.reported_memory_bytes > 0) {
      EXPECT_GE(row.reported_memory_bytes * 100, row.sold_memory_bytes * 49) << row.name;
    }
  }
}

TEST(Catalogue, ReportedMemoryNarrowsTheChoice) {
  EXPECT_EQ(single_model("A100-PCIE"), nullptr);
  EXPECT_EQ(single_model("A100-PCIE", 81920 * kMiB)->name, "A100-PCIE-80GB");
  EXPECT_EQ(single_model("A100-PCIE", 40536 * kMiB)->name, "A100-PCIE-40GB");  // an older driver
  EXPECT_EQ(single_model("Tesla V100-SXM2", 16160 * kMiB)->name, "V100-SXM2-16GB");
  EXPECT_EQ(single_model("Navi 22 [Radeon RX 6700/6700 XT / 6800M]", 12868124672), nullptr);
}

TEST(Catalogue, AMemorySizeThatFitsNoRowDecidesNothing) {
  EXPECT_EQ(single_model("NVIDIA A100-SXM4-80GB", 9728 * kMiB)->name,
            "A100-SXM4-80GB");  // one slice
  EXPECT_EQ(single_model("a100", 9728 * kMiB), nullptr);
}

struct Compared {
  const char* hint;
  const char* reported;
  std::optional<int64_t> memory;
  Match match;
};

constexpr Match kYes = Match::confirmed;
constexpr Match kNo = Match::contradicted;
constexpr Match kOpen = Match::not_reported;

TEST(MatchModel, MatchesByWhatIsKnown) {
  const Compared cases[] = {
      // semantics: devices and models
      {"A100", "NVIDIA A100-SXM4-80GB", {}, kYes},
      {"A100", "a100", {}, kYes},
      {"A100-80GB", "a100", {}, kOpen},
      {"A100-80GB", "A100-PCIE-40GB", {}, kNo},
      {"A100-80GB", "NVIDIA A100 80GB PCIe", {}, kYes},
      {"nvidia-a100", "NVIDIA A100", {}, kYes},
      {"A10", "A100", {}, kNo},
      {"A100", "A10", {}, kNo},
      {"A10", "A10G", {}, kNo},
      {"L4", "L40", {}, kNo},
      {"L40", "L40S", {}, kNo},
      {"H100", "NVIDIA H100 NVL", {}, kYes},
      {"H100-SXM5-80GB", "NVIDIA H100 NVL", {}, kNo},
      {"H100-80GB", "NVIDIA H100 NVL", {}, kNo},
      {"H100-NVL", "h100", {}, kOpen},
      {"H200", "H20", {}, kNo},
      {"GH200", "H200", {}, kNo},
      {"MI300X", "AMD_Instinct_MI300X_OAM", {}, kYes},
      {"MI300X", "MI300A", {}, kNo},
      {"MI300", "MI300X", {}, kYes},
      {"MI300X", "MI300", {}, kOpen},
      {"Gaudi2", "HL-225", {}, kYes},
      {"Gaudi 3", "HL-225", {}, kNo},
      {"gaudi2", "gaudi", {}, kOpen},
      {"v5e", "tpu-v5-lite-podslice", {}, kYes},
      {"v5p", "tpu-v5-lite-podslice", {}, kNo},
      // reported memory
      {"A100-80GB", "a100", 81920 * kMiB, kYes},
      {"A100-80GB", "a100", 81251 * kMiB, kYes},
      {"A100-80GB", "a100", 40960 * kMiB, kNo},
      {"A100-80GB", "a100", 9728 * kMiB, kOpen},
      {"H100-80GB", "h100", 81559 * kMiB, kYes},
      {"H100-SXM5", "h100", 81559 * kMiB, kOpen},
      {"V100-32GB", "Tesla V100-SXM2", 32510 * kMiB, kYes},
      // nothing said, or only the family
      {"A100", "", {}, kOpen},
      {"A100", "gpu", {}, kOpen},
      {"A100", "[N/A]", {}, kOpen},
      {"A100", "nvidia", {}, kOpen},
      {"MI300X", "nvidia", {}, kNo},
      {"nvidia", "A100", {}, kYes},
      // outside the catalogue: by words
      {"RTX 5090", "NVIDIA GeForce RTX 5090", {}, kYes},
      {"RTX 5090", "NVIDIA GeForce RTX 5090 Laptop GPU", {}, kNo},
      {"RTX 3090", "NVIDIA GeForce RTX 3090 Ti", {}, kNo},
      {"RTX 6000", "NVIDIA RTX 6000 Ada Generation", {}, kNo},
      {"A100", "NVIDIA GeForce RTX 5090", {}, kNo},
      {"A100", "A100X", {}, kNo},
      {"A100", "NVIDIA-A16-4Q", {}, kNo},
      {"A16", "NVIDIA-A16-4Q", {}, kYes},
      {"A100", "a100_bigmem", {}, kYes},
      {"A100-80GB", "a100_bigmem", {}, kOpen},
      {"A100-80GB", "a100_40gb_bigmem", {}, kNo},
      {"A100", "gold", {}, kOpen},
      {"A100", "0x20b2", {}, kOpen},
      {"bigmem", "a100_bigmem", {}, kYes},
      {"Gaudi 4", "Gaudi 2", {}, kNo},
      {"MI60", "Vega 20 [Radeon Instinct MI50/MI60 32GB]", {}, kOpen},
  };
  for (const Compared& c : cases)
    EXPECT_EQ(match_model(c.hint, c.reported, c.memory), c.match)
        << "hint " << c.hint << ", reported " << c.reported
        << (c.memory ? " with " + format_bytes(*c.memory) : "");
}

TEST(MatchModel, ATextIsConfirmedByItselfUnlessItNamesSeveralModels) {
  for (const std::string& text : all_texts()) EXPECT_EQ(match_model(text, text), kYes) << text;
}

// The oracle works on sets of rows, which is what the three answers mean.
TEST(MatchModel, AgreesWithTheRowsThatTheTextsMean) {
  std::vector<std::pair<std::string, std::set<std::string>>> known;
  for (const std::string& text : all_texts()) {
    const std::vector<std::string> rows = meant(text);
    known.emplace_back(text, std::set<std::string>(rows.begin(), rows.end()));
  }
  for (const auto& [hint, wanted] : known)
    for (const auto& [reported, seen] : known) {
      const auto common = static_cast<size_t>(std::count_if(
          seen.begin(), seen.end(), [&](const auto& row) { return wanted.contains(row); }));
      const Match expected = common == 0 ? kNo : common == seen.size() ? kYes : kOpen;
      ASSERT_EQ(match_model(hint, reported), expected) << hint << " / " << reported;
    }
}

TEST(MatchModel, ConfirmedOneWayIsNeverContradictedTheOther) {
  std::vector<std::string> texts = all_texts();
  for (const char* text : {"", "gpu", "nvidia", "tpu", "gold", "a100_bigmem", "A100X", "RTX 5090",
                           "RTX 5090 Laptop", "RTX 3090 Ti", "80GB", "0x74a1", "MI50/MI60"})
    texts.emplace_back(text);
  for (const std::string& a : texts)
    for (const std::string& b : texts) {
      const Match one = match_model(a, b);
      const Match other = match_model(b, a);
      ASSERT_FALSE(one == kYes && other == kNo) << a << " / " << b;
      ASSERT_EQ(one == kNo, other == kNo) << a << " / " << b;
    }
}

TEST(MatchModel, MoreKnownMemoryNeverTurnsAYesIntoANo) {
  for (const DeviceModel& row : catalogue())
    for (const DeviceModel& hinted : catalogue()) {
      if (match_model(hinted.series, row.name) != kYes) continue;
      for (int64_t gib : {1, 24, 40, 80, 141, 288})
        EXPECT_EQ(match_model(hinted.series, row.name, gib * kGiB), kYes) << row.name << " " << gib;
    }
}

TEST(MatchModel, AnswersForAnyBytes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const std::string_view alphabet = "aA1h04 -_/[]()gb\xff\0.,";
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 16, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    const std::string once = normalise_model(text);
    EXPECT_EQ(normalise_model(once), once) << text;
    EXPECT_EQ(models_meant(once), models_meant(text)) << text;
    if (match_model("A100", text) == kYes) {
      EXPECT_NE(match_model(text, "A100"), kNo) << text;
    }
  }
}

TEST(Mig, ProfilesBelongToTheDevice) {
  const DeviceModel& small = *single_model("A100-SXM4-40GB");
  const DeviceModel& large = *single_model("A100-SXM4-80GB");
  EXPECT_NE(find_mig_profile(small, "1g.5gb"), nullptr);
  EXPECT_EQ(find_mig_profile(large, "1g.5gb"), nullptr);
  EXPECT_NE(find_mig_profile(large, "7g.80gb"), nullptr);
  EXPECT_EQ(find_mig_profile(*single_model("L40S"), "1g.10gb"), nullptr);
  // The same name is another share of the smaller card.
  EXPECT_EQ(find_mig_profile(small, "1g.10gb")->max_instances, 4);
  EXPECT_EQ(find_mig_profile(large, "1g.10gb")->max_instances, 7);
}

TEST(Mig, KubernetesSpellingOfMediaExtensionsIsTheSameProfile) {
  const DeviceModel& model = *single_model("A100-SXM4-80GB");
  EXPECT_EQ(find_mig_profile(model, "1g.10gb.me"), find_mig_profile(model, "1g.10gb+me"));
  EXPECT_EQ(find_mig_profile(model, "1g.10gb.me")->name, "1g.10gb+me");
  EXPECT_EQ(
      find_mig_profile(*single_model("RTX-PRO-6000-Blackwell-Server"), "1g.24gb.me.all")->name,
      "1g.24gb+me.all");
}

TEST(Mig, OnlyTheFormOfAProfileNameIsOne) {
  for (const char* name :
       {"1g.10gb", "7g.141gb", "1g.10gb+me", "1g.24gb+me.all", "1g.24gb+gfx", "1g.24gb-me"})
    EXPECT_TRUE(is_mig_profile_name(name)) << name;
  for (const char* name : {"", "1g", "g.10gb", "1g.gb", "1g.10", "1G.10GB", "1g.10gb+",
                           "1g.10gb+you", "1c.3g.71gb", "1g.10gb ", "mig-1g.10gb", "-1g.10gb"})
    EXPECT_FALSE(is_mig_profile_name(name)) << name;
}

TEST(Mig, EveryProfileFitsItsCardAsOftenAsItSays) {
  for (const DeviceModel& row : catalogue()) {
    std::set<std::string_view> names;
    int compute = 0;
    int memory = 0;
    for (const MigProfile& profile : row.mig_profiles) {
      compute = std::max(compute, profile.compute_slices);
      memory = std::max(memory, profile.memory_slices);
    }
    for (const MigProfile& profile : row.mig_profiles) {
      SCOPED_TRACE(testing::Message() << row.name << " " << profile.name);
      EXPECT_TRUE(names.insert(profile.name).second);
      EXPECT_TRUE(is_mig_profile_name(profile.name));
      EXPECT_LE(profile.compute_slices * profile.max_instances, compute);
      EXPECT_LE(profile.memory_slices * profile.max_instances, memory);
      EXPECT_LE(profile.memory_bytes, row.sold_memory_bytes);
      EXPECT_TRUE(profile.name.starts_with(std::to_string(profile.compute_slices) + "g." +
                                           std::to_string(profile.memory_bytes / kGiB) + "gb"));
    }
  }
}

TEST(Mig, SevenSliceCardsTakeOneWholeCardProfileAndSevenSmallest) {
  for (const char* name : {"A100-SXM4-40GB", "A100-PCIE-80GB", "A800-SXM4-80GB", "H100-NVL-94GB",
                           "H20", "H200-SXM5-141GB", "GH200-96GB", "B200", "B300", "GB200"}) {
    const DeviceModel& row = *single_model(name);
    ASSERT_EQ(row.mig_profiles.size(), 7u) << name;
    EXPECT_EQ(row.mig_profiles.front().max_instances, 7) << name;
    EXPECT_EQ(row.mig_profiles.back().compute_slices, 7) << name;
    EXPECT_EQ(row.mig_profiles.back().memory_slices, 8) << name;
  }
}

}  // namespace
}  // namespace exa
