#include "discover/slurm_gres.h"

#include <gmock/gmock.h>

namespace exa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string shown(const std::vector<Gres>& entries) {
  std::string text;
  for (const Gres& gres : entries) {
    text += std::string(gres.name) + "|" + std::string(gres.type) + "|" +
            std::to_string(gres.count) + "|" + std::string(gres.detail) + ";";
  }
  return text;
}

TEST(SlurmGres, ListsAreReadAsSlurmPrintsThem) {
  const struct {
    std::string text;
    std::string entries;
  } rows[] = {
      {"", ""},
      {"(null)", ""},
      {"N/A", ""},
      {"gpu:4", "gpu||4|;"},
      {"gpu:a100:4(S:0-1)", "gpu|a100|4|S:0-1;"},
      {"gpu:a100:2(IDX:0,2)", "gpu|a100|2|IDX:0,2;"},
      {"gpu:a100:2(IDX:0,2),hpu:0,shard:0", "gpu|a100|2|IDX:0,2;hpu||0|;shard||0|;"},
      {"gpu:a100:0(IDX:N/A)", "gpu|a100|0|IDX:N/A;"},
      {"gpu:(null):4(IDX:0-3)", "gpu||4|IDX:0-3;"},
      {"gpu:nvidia_a100-sxm4-80gb_1g.10gb:7", "gpu|nvidia_a100-sxm4-80gb_1g.10gb|7|;"},
      {"shard:l40s:4(4/8,0/8)", "shard|l40s|4|4/8,0/8;"},
      {"bandwidth:lustre:no_consume:4G", "bandwidth|lustre|4294967296|;"},
      {"gpu:no_consume:2", "gpu||2|;"},
      {"craynetwork:4", "craynetwork||4|;"},
  };
  for (const auto& row : rows) {
    const auto entries = parse_gres(row.text, MissingCount::is_an_error);
    ASSERT_TRUE(entries) << row.text << ": " << entries.error().message;
    EXPECT_EQ(shown(*entries), row.entries) << row.text;
  }
}

// Read as counts these are clusters of four billion devices.
TEST(SlurmGres, ValuesForNotSetAreUnknownAndNoCount) {
  for (const std::string unset :
       {"4294967294", "4294967295", "-2", "-1", "18446744073709551614", "18446744073709551615"}) {
    const std::string text = "gpu:a100:" + unset + "(S:0-1),gpu:h100:2";
    const auto entries = parse_gres(text, MissingCount::is_an_error);
    ASSERT_TRUE(entries) << text;
    EXPECT_TRUE(entries->at(0).unset) << text;
    EXPECT_EQ(entries->at(0).count, 0);
    EXPECT_FALSE(entries->at(1).unset);
    const std::string list = "cpu=64,gres/gpu=" + unset;
    const auto tres = parse_tres_gres(list);
    ASSERT_TRUE(tres) << unset;
    EXPECT_TRUE(tres->entries.at(0).unset) << unset;
  }
}

TEST(SlurmGres, WhatIsNoListFailsByName) {
  for (const std::string text :
       {"gpu:", "gpu:a100:", ":4", "gpu:a100:4(S:0-1", "gpu:a100:4(IDX:0),hp", "gpu:a100:x(S:0)y",
        "gpu:a100:9007199254740992", "gpu:9P", "gpu:a100:4,", ",gpu:1", "gpu:a100:4.5",
        "gpu:a100:99999999999999999999", "gpu:nvidia_a100-sxm4gpu:nvidia_a100-sxm4-80gb:0(IDX:N/A)",
        "8/56/0/64"}) {
    const auto entries = parse_gres(text, MissingCount::is_an_error);
    ASSERT_FALSE(entries) << text << " read as " << shown(*entries);
    EXPECT_EQ(entries.error().code, Code::unreadable_output);
  }
}

TEST(SlurmGres, AMissingCountMeansOneOnlyWhereNothingCanBeCut) {
  EXPECT_FALSE(parse_gres("gpu:tesla", MissingCount::is_an_error));
  EXPECT_EQ(shown(*parse_gres("gpu:tesla", MissingCount::is_one)), "gpu|tesla|1|;");
  EXPECT_EQ(shown(*parse_gres("gpu", MissingCount::is_one)), "gpu||1|;");
}

TEST(SlurmGres, TresKeepsOnlyGres) {
  const auto tres = parse_tres_gres("cpu=64,mem=500G,billing=64,gres/gpu=11,gres/gpu:a100=4");
  ASSERT_TRUE(tres);
  EXPECT_EQ(shown(tres->entries), "gpu||11|;gpu|a100|4|;");
  EXPECT_THAT(parse_tres_gres("")->entries, IsEmpty());
  EXPECT_FALSE(parse_tres_gres("cpu=64,gres/gp"));
  EXPECT_FALSE(parse_tres_gres("gres/gpu=x"));
}

TEST(SlurmNames, ATypeNamesItsFamilyModelAndSlice) {
  const struct {
    std::string type;
    std::optional<Family> family;
    std::string reported;
    std::string mig;
  } rows[] = {
      {"a100", Family::nvidia, "a100", ""},
      {"mi300x", Family::amd, "mi300x", ""},
      {"gaudi2", Family::intel_gaudi, "gaudi2", ""},
      {"nvidia_a100-sxm4-80gb_1g.10gb", Family::nvidia, "nvidia_a100-sxm4-80gb", "1g.10gb"},
      {"nvidia_a100-sxm4-80gb_1g.10gb+me", Family::nvidia, "nvidia_a100-sxm4-80gb", "1g.10gb+me"},
      {"a100_mig_3g.20gb", Family::nvidia, "a100", "3g.20gb"},
      {"a100-2g10gb", Family::nvidia, "a100", "2g.10gb"},
      {"1g.5gb", Family::nvidia, "", "1g.5gb"},
      {"mig-1g_5gb", Family::nvidia, "", "1g.5gb"},
      {"ascend910", std::nullopt, "ascend910", ""},
      {"", std::nullopt, "", ""},
  };
  SlurmNames names;
  for (const auto& row : rows) {
    const auto& device = names.device(row.type);
    EXPECT_EQ(device.family, row.family) << row.type;
    EXPECT_EQ(device.reported, row.reported) << row.type;
    EXPECT_EQ(device.mig_profile, row.mig) << row.type;
  }
}

TEST(SlurmNames, OnlyFeaturesThatNameSoftwareOrOneSeriesTellAFamily) {
  const struct {
    std::string feature;
    std::optional<Family> family;
    std::optional<Software> software;
  } rows[] = {
      {"cuda-12.4", Family::nvidia, Software{"cuda", "12.4"}},
      {"CUDA_11", Family::nvidia, Software{"cuda", "11"}},
      {"rocm6.1.2", Family::amd, Software{"rocm", "6.1.2"}},
      {"nvidia-driver-550.54.15", Family::nvidia, Software{"nvidia-driver", "550.54.15"}},
      {"a100", Family::nvidia, std::nullopt},
      {"mi300x", Family::amd, std::nullopt},
      {"amd", std::nullopt, std::nullopt},    // mostly the processor
      {"intel", std::nullopt, std::nullopt},  // likewise
      {"cuda-", std::nullopt, std::nullopt},
      {"cuda-12.", std::nullopt, std::nullopt},
      {"rack-12", std::nullopt, std::nullopt},
      {"ib", std::nullopt, std::nullopt},
  };
  SlurmNames names;
  for (const auto& row : rows) {
    EXPECT_EQ(names.feature(row.feature).family, row.family) << row.feature;
    EXPECT_EQ(names.feature(row.feature).software, row.software) << row.feature;
  }
}

// ---- cards --------------------------------------------------------------------------------------

struct Given {
  std::string gres = {};
  std::optional<std::string> used = {};
  std::optional<std::string> configured = {};
  std::optional<std::string> allocated = {};
  std::vector<std::string> features = {};
  std::string drained = {};
  SharesHeld held = {};  // shards by a job listing = {}; none when units is 0
};

std::string number(std::optional<int64_t> value) {
  return value ? std::to_string(*value) : "?";
}

// "nvidia a100 x4: gpu:a100 4/1/3": family, model as reported, cards, then units/used/free by
// offer.
std::string shown(const std::vector<CardSet>& sets) {
  std::string text;
  for (const CardSet& set : sets) {
    text +=
        std::string(info(set.family).name) + " " + set.reported + " x" + number(set.physical) + ":";
    for (const Offer& offer : set.offers) {
      text += " " + offer.resource + " " + std::to_string(offer.units) + "/" + number(offer.used) +
              "/" + number(offer.free);
    }
    text += ";";
  }
  return text;
}

std::vector<CardSet> cards(const Given& given, std::vector<std::string>* ignored = nullptr) {
  SlurmDevices devices;
  devices.total = *parse_gres(given.gres, MissingCount::is_one);
  if (given.used) devices.used = *parse_gres(*given.used, MissingCount::is_one);
  if (given.configured) devices.configured = *parse_tres_gres(*given.configured);
  if (given.allocated) devices.allocated = *parse_tres_gres(*given.allocated);
  devices.drained = given.drained;
  std::map<std::string, SharesHeld, std::less<>> held = {{"shard", given.held}};
  if (given.held.units > 0) devices.shares_held = &held;
  SlurmNames names;
  std::vector<std::string> unused;
  return cards_of(devices, given.features, names, ignored != nullptr ? *ignored : unused);
}

TEST(SlurmCards, UsedComesFromWhateverSaysItAndIsUnknownOtherwise) {
  const struct {
    std::string rule;
    Given given;
    std::string cards;
  } rows[] = {
      {"no source of use", {.gres = "gpu:a100:4"}, "nvidia a100 x4: gpu:a100 4/?/?;"},
      {"the used list",
       {.gres = "gpu:a100:4", .used = "gpu:a100:1(IDX:0),hpu:0"},
       "nvidia a100 x4: gpu:a100 4/1/3;"},
      {"a used list without the model",
       {.gres = "gpu:a100:4", .used = "gpu:3"},
       "nvidia a100 x4: gpu:a100 4/3/1;"},
      {"a used list without the model cannot be split between two",
       {.gres = "gpu:a100:4,gpu:v100:4", .used = "gpu:3"},
       "nvidia a100 x4: gpu:a100 4/?/?;nvidia v100 x4: gpu:v100 4/?/?;"},
      {"but none used is none used",
       {.gres = "gpu:a100:4,gpu:v100:4", .used = "gpu:0"},
       "nvidia a100 x4: gpu:a100 4/0/4;nvidia v100 x4: gpu:v100 4/0/4;"},
      {"an empty used list says nothing",
       {.gres = "gpu:a100:4", .used = "(null)"},
       "nvidia a100 x4: gpu:a100 4/?/?;"},
      {"TRES with the model",
       {.gres = "gpu:a100:4",
        .configured = "gres/gpu=4,gres/gpu:a100=4",
        .allocated = "gres/gpu:a100=1"},
       "nvidia a100 x4: gpu:a100 4/1/3;"},
      {"TRES leaves out what is 0",
       {.gres = "gpu:a100:4", .configured = "cpu=64,gres/gpu=4", .allocated = ""},
       "nvidia a100 x4: gpu:a100 4/0/4;"},
      {"TRES without gres says nothing",
       {.gres = "gpu:a100:4", .configured = "cpu=64,mem=500G", .allocated = "cpu=8"},
       "nvidia a100 x4: gpu:a100 4/?/?;"},
      {"TRES counts cards and slices in one number",
       {.gres = "gpu:a100:2,gpu:a100_1g.5gb:7",
        .configured = "gres/gpu=9",
        .allocated = "gres/gpu=2"},
       "nvidia a100 x2: gpu:a100 2/?/?;nvidia a100 x?: gpu:a100_1g.5gb 7/?/?;"},
      {"drained devices cannot be had",
       {.gres = "gpu:a100:4", .used = "gpu:a100:1", .drained = "gpu:a100:1"},
       "nvidia a100 x4: gpu:a100 4/1/?;"},
  };
  for (const auto& row : rows) EXPECT_EQ(shown(cards(row.given)), row.cards) << row.rule;
}

TEST(SlurmCards, SharesAndWholeCardsTakeFromEachOther) {
  const std::string gres = "gpu:l40s:2,shard:l40s:16";
  const struct {
    std::string rule;
    Given given;
    std::string cards;
  } rows[] = {
      {"22.05 counts the cards touched, not the shards",
       {.gres = gres, .used = "gpu:l40s:0(IDX:N/A),shard:l40s:1(IDX:0)"},
       "nvidia l40s x2: gpu:l40s 2/0/1 shard:l40s 16/?/?;"},
      {"TRES has the shards",
       {.gres = gres,
        .used = "gpu:l40s:0(IDX:N/A),shard:l40s:1(IDX:0)",
        .configured = "gres/gpu=2,gres/shard=16",
        .allocated = "gres/shard=4"},
       "nvidia l40s x2: gpu:l40s 2/0/1 shard:l40s 16/4/12;"},
      {"TRES alone does not say on how many cards",
       {.gres = gres, .configured = "gres/gpu=2,gres/shard=16", .allocated = "gres/shard=4"},
       "nvidia l40s x2: gpu:l40s 2/0/? shard:l40s 16/4/12;"},
      {"no card touched is no shard used",
       {.gres = gres, .used = "gpu:l40s:1(IDX:0),shard:l40s:0(IDX:N/A)"},
       "nvidia l40s x2: gpu:l40s 2/1/1 shard:l40s 16/0/8;"},
      {"later releases print every card's shards",
       {.gres = gres, .used = "gpu:l40s:0(IDX:N/A),shard:l40s:5(4/8,1/8)"},
       "nvidia l40s x2: gpu:l40s 2/0/0 shard:l40s 16/5/11;"},
      {"a job listing that agrees on the cards",
       {.gres = gres, .used = "gpu:l40s:0,shard:l40s:1(IDX:0)", .held = {4, 1}},
       "nvidia l40s x2: gpu:l40s 2/0/1 shard:l40s 16/4/12;"},
      {"a job listing that does not",
       {.gres = gres, .used = "gpu:l40s:0,shard:l40s:2(IDX:0-1)", .held = {4, 1}},
       "nvidia l40s x2: gpu:l40s 2/0/0 shard:l40s 16/?/?;"},
      {"shares without a type belong to the only cards there are",
       {.gres = "gpu:l40s:2,shard:16", .used = "gpu:l40s:0,shard:0"},
       "nvidia l40s x2: gpu:l40s 2/0/2 shard 16/0/16;"},
      {"with two models nobody knows whose they are",
       {.gres = "gpu:l40s:2,gpu:a100:2,shard:16", .used = "gpu:l40s:0,gpu:a100:0,shard:0"},
       "nvidia l40s x2: gpu:l40s 2/0/?;nvidia a100 x2: gpu:a100 2/0/?;other  x?: shard 16/0/?;"},
      {"mps shares alike",
       {.gres = "gpu:a100:2,mps:a100:200", .used = "gpu:a100:1(IDX:0),mps:a100:0(IDX:N/A)"},
       "nvidia a100 x2: gpu:a100 2/1/1 mps:a100 200/0/100;"},
  };
  for (const auto& row : rows) EXPECT_EQ(shown(cards(row.given)), row.cards) << row.rule;
}

TEST(SlurmCards, ADeviceWithoutATypeIsOfNoFamilyUnlessTheFeaturesTell) {
  const struct {
    std::vector<std::string> features;
    Family family;
    std::string remark;
  } rows[] = {
      {{}, Family::other, "type not reported"},
      {{"ib", "amd"}, Family::other, "type not reported"},
      {{"ib", "a100"}, Family::nvidia, "type not reported; family from feature a100"},
      {{"rocm-6.1"}, Family::amd, "type not reported; family from feature rocm-6.1"},
      {{"cuda-12.4", "mi300x"},
       Family::other,
       "type not reported; the features name several families"},
  };
  for (const auto& row : rows) {
    const auto sets = cards({.gres = "gpu:4", .features = row.features});
    ASSERT_EQ(sets.size(), 1u);
    EXPECT_EQ(sets[0].family, row.family);
    EXPECT_EQ(sets[0].remark, row.remark);
    EXPECT_EQ(sets[0].reported, "");
    EXPECT_EQ(sets[0].model, "");
  }
  EXPECT_EQ(cards({.gres = "hpu:8"})[0].family, Family::intel_gaudi);
}

TEST(SlurmCards, ATypeOutsideTheCatalogueIsOfNoFamilyWhateverTheFeaturesSay) {
  for (const auto& features :
       std::vector<std::vector<std::string>>{{}, {"cuda-12.4"}, {"a100"}, {"rocm-6.1", "mi300x"}}) {
    const auto sets = cards({.gres = "gpu:w7900:8", .features = features});
    ASSERT_EQ(sets.size(), 1u);
    EXPECT_EQ(sets[0].family, Family::other);
    EXPECT_TRUE(sets[0].family_unread);
    EXPECT_EQ(sets[0].reported, "w7900");
    EXPECT_EQ(sets[0].remark, "type w7900 is not in the catalogue");
  }
  EXPECT_TRUE(cards({.gres = "gpu:4"})[0].family_unread);
  EXPECT_FALSE(cards({.gres = "gpu:a100:4"})[0].family_unread);
  EXPECT_FALSE(cards({.gres = "hpu:8"})[0].family_unread);
}

TEST(SlurmCards, AResourceThatIsNoAcceleratorIsNamedAndNotCounted) {
  std::vector<std::string> ignored;
  EXPECT_EQ(
      shown(cards({.gres = "craynetwork:4,gpu:a100:4,npu:ascend910:4,tmpdisk:100G"}, &ignored)),
      "nvidia a100 x4: gpu:a100 4/?/?;");
  EXPECT_THAT(ignored, ElementsAre("craynetwork", "npu", "tmpdisk"));
}

}  // namespace
}  // namespace exa
