#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "catalogue/sku_sharing.h"
#include "catalogue/skus_for_test.h"

namespace exa {
namespace {

using sample::full_sku;
using sample::lines_of;
using sample::parsed;
using sample::sku_of;
using sample::sku_with;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> problems_with(std::string_view members) {
  const auto sku = compute_sku_from_json(sku_with(members));
  return sku ? std::vector<std::string>() : lines_of(sku.error().problems);
}

TEST(ComputeSku, ComesBackAsItWasWritten) {
  const ComputeSku sku = sku_of(full_sku());
  EXPECT_EQ(sku_of(to_json(sku)), sku);
  EXPECT_EQ(to_text(to_json(sku_of(to_json(sku)))), to_text(to_json(sku)));
  EXPECT_EQ(sku.price_per_hour, (Money{2'500'000, "EUR"}));
}

TEST(ComputeSku, ItsJsonHasEveryKeyInOneOrder) {
  std::vector<std::string> keys;
  for (const auto& member : to_json(sku_of(full_sku()))) keys.emplace_back(member.key());
  EXPECT_THAT(keys, ElementsAreArray({"name", "display_name", "description", "allocation",
                                      "environment_template", "hardware_profile", "shape", "labels",
                                      "annotations", "icon_url", "readme", "price_per_hour",
                                      "inputs", "outputs"}));
}

TEST(ComputeSku, AnUnknownPriceIsNeverZero) {
  const ComputeSku sku = sku_of(sku_with(R"({"price_per_hour": null})"));
  EXPECT_FALSE(sku.price_per_hour.has_value());
  EXPECT_TRUE(to_json(sku).at("price_per_hour").is_null());
  EXPECT_EQ(sku_of(sku_with(R"({"price_per_hour": {"amount": 0}})")).price_per_hour,
            (Money{0, "USD"}));
}

TEST(ComputeSku, EachBreachIsToldAtItsPlace) {
  const std::string long_readme = fmt::format(R"({{"readme": "{}"}})", std::string(65'537, 'x'));
  const std::pair<std::string_view, std::vector<std::string>> cases[] = {
      {"{}", {}},
      {R"({"name": null})", {"/name is missing"}},
      {R"({"name": "Medium GPU"})",
       {"/name not a compute profile name: it takes a-z, 0-9 and '-' inside, and begins and ends "
        "with a letter or digit; did you mean medium-gpu?"}},
      {R"({"display_name": 3})", {"/display_name must be a text, not 3"}},
      {R"({"display_name": "a\u001b[2J"})",
       {R"(/display_name holds control characters: "a\x1b[2J")"}},
      {R"({"description": "a\u001b[2J"})", {"/description holds control characters"}},
      {R"({"allocation": "sharde"})",
       {R"(/allocation "sharde" is not one of dedicated, shared; did you mean shared?)"}},
      {R"({"environment_template": null})",
       {"/environment_template/name is missing: what builds the instance",
        "/environment_template/version is missing: which version of the template"}},
      {R"({"environment_template": {"name": "gpu-vm", "version": "1 2"}})",
       {"/environment_template/version takes letters, digits and . - _ inside, at most 63 "
        "characters, such as v1.2"}},
      {R"({"environment_template": {"name": "gpu-vm", "version": "v1", "verison": "v2"}})",
       {"/environment_template/verison is not a field of the environment template; did you mean "
        "version?"}},
      {R"({"hardware_profile": "small@3"})",
       {"/shape stands beside hardware_profile; keep one of the two"}},
      {R"({"hardware_profile": "small@3", "shape": null})", {}},
      {R"({"hardware_profile": null, "shape": null})", {}},
      {R"({"hardware_profile": "small", "shape": null})",
       {"/hardware_profile names no version; a label moves, and with it what people get; write "
        "small@VERSION"}},
      {R"({"labels": {"a b": "x", "team": "m l"}})",
       {"/labels/a b is no key: NAME or DOMAIN/NAME, as Kubernetes has it",
        "/labels/team takes letters, digits and . - _ inside, at most 63 characters"}},
      {R"({"labels": {"team": 3}})", {"/labels team must be a text, not 3"}},
      {R"({"annotations": {"note": "a\u0007"}})", {"/annotations/note holds control characters"}},
      {R"({"icon_url": "http://example.com/a.png"})",
       {"/icon_url must begin with https:// or data:image/"}},
      {R"({"icon_url": "javascript:alert"})",
       {"/icon_url must begin with https:// or data:image/"}},
      {R"({"icon_url": "https://user:pw@example.com/a"})",
       {"/icon_url holds a user name or password"}},
      {R"({"icon_url": "https:///a"})", {"/icon_url names no host"}},
      {R"({"icon_url": "https://example.com/\"onload"})",
       {"/icon_url holds characters that an address has only as %XX"}},
      {R"({"icon_url": "data:image/png;base64,iVBORw0KGgo="})", {}},
      {R"({"icon_url": "data:image/png;base64,???"})", {"/icon_url is not base64"}},
      {R"({"icon_url": "data:image/svg+xml;base64,PHN2Zz4="})",
       {"/icon_url must be data:image/png;base64,… or jpeg, gif, webp"}},
      {R"({"icon_url": "data:text/html;base64,PHN2Zz4="})",
       {"/icon_url must begin with https:// or data:image/"}},
      {long_readme, {"/readme has 65537 bytes; at most 65536 are kept"}},
      {R"({"price_per_hour": {"amount": -1}})",
       {"/price_per_hour/amount the price must not be negative, as -1 is"}},
      {R"({"price_per_hour": {"amount": 1, "currency": "euro"}})",
       {R"(/price_per_hour/currency "euro" is no currency: three capital letters)"}},
      {R"({"price_per_hour": {"currency": "EUR"}})", {"/price_per_hour/amount is missing"}},
      {R"({"price_per_hour": 3})", {"/price_per_hour must be an object, not 3"}},
      {R"({"inputs": [{"name": "a"}, {"name": "a"}]})",
       {"/inputs/1/name there is another input a"}},
      {R"({"outputs": [{"name": "a"}, {"name": "a"}, {}, {"name": "a b"}]})",
       {"/outputs/1/name there is another output a", "/outputs/2/name is missing",
        "/outputs/3/name is no name of an output: letters, digits and '_', no digit first, at most "
        "63"}},
      {R"({"redme": "x"})", {"/redme is not a field of a compute profile; did you mean readme?"}},
      {R"({"name": 3, "allocation": "x", "icon_url": "ftp://a"})",
       {"/name must be a text, not 3", R"(/allocation "x" is not one of dedicated, shared)",
        "/icon_url must begin with https:// or data:image/"}},
  };
  for (const auto& [members, problems] : cases)
    EXPECT_THAT(problems_with(members), ElementsAreArray(problems)) << members.substr(0, 100);
}

TEST(ComputeSku, AShapeKeepsTheRulesOfHardwareProfiles) {
  EXPECT_THAT(
      problems_with(R"({"shape": {"accelerator_family": "nvidai", "gpu_count": -1}})"),
      testing::ElementsAre(HasSubstr("/shape/accelerator_family"), HasSubstr("/shape/gpu_count")));
}

TEST(ComputeSku, WhatIsNoObjectIsSaidOnce) {
  const auto sku = compute_sku_from_json(json::array());
  ASSERT_FALSE(sku.has_value());
  EXPECT_EQ(sku.error().problems.size(), 1U);
}

TEST(ComputeSku, ItsNameNeverChanges) {
  const ComputeSku before = sku_of(full_sku());
  ComputeSku after = before;
  EXPECT_THAT(problems_of_edit(before, after), IsEmpty());
  after.name = "large-gpu";
  EXPECT_THAT(lines_of(problems_of_edit(before, after)),
              testing::ElementsAre("/name is medium-gpu for good: a name cannot be changed"));
}

TEST(SkuSharing, WhatIsNotSaidToBeSeenIsNotSeen) {
  using With = SkuSharing::With;
  struct Case {
    SkuSharing sharing;
    std::string_view project;
    std::string_view owner;
    bool published;
    bool seen;
  };
  const Case cases[] = {
      {{}, "a", "a", true, true},
      {{}, "a", "a", false, false},
      {{}, "b", "a", true, false},
      {{With::all, {}}, "b", "a", true, true},
      {{With::all, {}}, "b", "a", false, false},
      {{With::selected, {"b"}}, "b", "a", true, true},
      {{With::selected, {"b"}}, "c", "a", true, false},
      {{With::selected, {"b"}}, "B", "a", true, false},
      {{With::selected, {}}, "b", "a", true, false},
      // a list without the word is no sharing
      {{With::none, {"b"}}, "b", "a", true, false},
      {{With::all, {}}, "", "a", true, false},
      {{With::all, {}}, "b", "", true, false},
      {{}, "", "", true, false},
      {{static_cast<With>(7), {"b"}}, "b", "a", true, false},
  };
  for (const Case& each : cases)
    EXPECT_EQ(sku_visible(each.sharing, each.project, each.owner, each.published), each.seen)
        << each.project << " of " << each.owner;
}

TEST(SkuSharing, WhatCannotBeReadIsSharedWithNobody) {
  for (const std::string_view stored : {R"("none")", R"("ALL")", R"("selected")", "null", "true",
                                        "{}", R"({"with": "all"})", R"(["a", 3])", "7"})
    EXPECT_FALSE(sku_visible(sku_sharing_from_json(parsed(stored)), "a", "owner", true)) << stored;
  for (const std::string_view stored : {R"("all")", R"(["a","b"])"}) {
    EXPECT_TRUE(sku_visible(sku_sharing_from_json(parsed(stored)), "a", "owner", true)) << stored;
    EXPECT_EQ(to_text(to_json(sku_sharing_from_json(parsed(stored)))), stored);
  }
}

}  // namespace
}  // namespace exa
