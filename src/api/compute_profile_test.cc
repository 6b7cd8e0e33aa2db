// What the requirement says of compute profiles, sentence by sentence.
#include "api/compute_profiles_for_test.h"

namespace exa {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class ComputeProfile : public ComputeProfiles {};

TEST_F(ComputeProfile, IsADraftUntilItIsPublishedAndVisibleToUsersAtOnceThen) {
  create("small");
  as(Role::member, "default");
  EXPECT_THAT(names(), IsEmpty());
  as_owner();
  publish("small");
  as(Role::member, "default");
  EXPECT_THAT(names(), ElementsAre("small"));
  EXPECT_EQ(show("small").at("display_name"), "Small");
}

TEST_F(ComputeProfile, IsNoLongerSeenOnceItIsUnpublished) {
  create("small");
  publish("small");
  exa.ask("compute_profile.unpublish", {{"name", "small"}});
  as(Role::member, "default");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(ComputeProfile, PublishedTwiceIsNoErrorAndSaysSo) {
  create("small");
  publish("small");
  const Reply again = exa.call("compute_profile.publish", {{"name", "small"}});
  EXPECT_EQ(again.status, 200);
  EXPECT_THAT(again.notices, ElementsAre("small is published already"));
}

TEST_F(ComputeProfile, ItsUniqueNameCannotBeChanged) {
  create("small");
  EXPECT_THAT(
      problems("compute_profile.edit",
               {{"name", "small"}, {"file", document(R"({"name": "tiny"})")}}),
      ElementsAre("/file/name is small for good: a name cannot be changed, it is immutable"));
  EXPECT_THAT(problems("compute_profile.create",
                       {{"name", "small"}, {"file", document(R"({"name": "tiny"})")}}),
              ElementsAre(StartsWith("/file/name is \"tiny\", but small is created")));
  EXPECT_EQ(status("compute_profile.edit",
                   {{"name", "small"}, {"file", document(R"({"name": "small", "readme": "x"})")}}),
            200);
}

TEST_F(ComputeProfile, ANameIsThereOnce) {
  create("small");
  const Reply again = exa.call("compute_profile.create", {{"name", "small"}, {"file", document()}});
  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(again.body, HasSubstr("exa compute-profile edit small"));
}

TEST_F(ComputeProfile, IsProjectScopedByDefault) {
  create("small");
  publish("small");
  as(Role::member, "vision");
  EXPECT_THAT(names("vision"), IsEmpty());
  EXPECT_EQ(status("compute_profile.show", {{"name", "default/small"}, {"project", "vision"}}),
            404);
}

TEST_F(ComputeProfile, IsSharedWithNoneAllOrSelectedProjects) {
  create("small");
  publish("small");
  EXPECT_EQ(show("small").at("shared_with"), "none");
  const std::vector<std::string> shared = {"default/small"};
  const std::vector<std::string> none;
  const std::tuple<std::vector<std::string>, std::vector<std::string>, std::vector<std::string>>
      rows[] = {{{"none"}, none, none},     {{"all"}, shared, shared},
                {{"vision"}, shared, none}, {{"vision", "nlp"}, shared, shared},
                {{"nlp"}, none, shared},    {{"none"}, none, none}};
  for (const auto& [with, in_vision, in_nlp] : rows) {
    as_owner();
    share("small", with);
    as(Role::viewer, "vision");
    EXPECT_EQ(names("vision"), in_vision) << with[0];
    as(Role::viewer, "nlp");
    EXPECT_EQ(names("nlp"), in_nlp) << with[0];
  }
}

TEST_F(ComputeProfile, IsSharedWithProjectsThatThereAreAndNotWithItsOwn) {
  create("small");
  const auto share_with = [&](const char* whom) {
    return status("compute_profile.share", {{"name", "small"}, {"with", json::array{whom}}});
  };
  EXPECT_EQ(share_with("nowhere"), 404);
  EXPECT_EQ(share_with("default"), 422);
  EXPECT_EQ(show("small").at("shared_with"), "none");
}

TEST_F(ComputeProfile, SharingADraftShowsItToNobodyYet) {
  create("small");
  const Reply shared =
      exa.call("compute_profile.share", {{"name", "small"}, {"with", json::array{"all"}}});
  EXPECT_THAT(shared.notices, Contains(HasSubstr("a draft")));
  as(Role::admin, "vision");
  EXPECT_THAT(names("vision"), IsEmpty());
}

TEST_F(ComputeProfile, AnEditIsANewVersionAndTheOneBeforeStaysAsItWas) {
  create("small", R"({"price_per_hour": {"amount": 2}})");
  const Reply edited =
      exa.call("compute_profile.edit",
               {{"name", "small"}, {"price_per_hour", "2.5 EUR"}, {"reason", "new prices"}});
  EXPECT_THAT(edited.notices, Contains("running instances keep version 1; new ones get version 2"));
  EXPECT_EQ(show("small").at("version"), 2);
  EXPECT_EQ(show("small").at("price_per_hour").at("currency"), "EUR");
  EXPECT_EQ(show("small@1").at("price_per_hour").at("currency"), "USD");
  const json::value history = exa.ask("compute_profile.history", {{"name", "small"}});
  EXPECT_EQ(history.at("items").at(1).at("reason"), "new prices");
  EXPECT_EQ(history.at("items").at(1).at("created_by"), "ada");
  EXPECT_THAT(history.at("items").at(1).at("changes").as_array(), testing::SizeIs(1));
}

TEST_F(ComputeProfile, AnEditOfNothingIsNoVersionAndSaysSo) {
  create("small");
  const Reply edited =
      exa.call("compute_profile.edit", {{"name", "small"}, {"display_name", "Small"}});
  EXPECT_EQ(edited.status, 200);
  EXPECT_THAT(edited.notices, ElementsAre("nothing changed: small stays version 1"));
  EXPECT_EQ(show("small").at("latest_version"), 1);
}

TEST_F(ComputeProfile, FlagsWinOverTheFileAndAFileStandsForAll) {
  create("small", R"({"labels": {"team": "ml", "tier": "a"}, "readme": "one"})");
  exa.ask("compute_profile.edit", {{"name", "small"},
                                   {"file", document(R"({"labels": {"team": "ml", "tier": "a"}})")},
                                   {"labels", json::array{"tier=b"}},
                                   {"description", "for notebooks"}});
  const json::value shown = show("small");
  EXPECT_EQ(shown.at("labels"), (json::object{{"team", "ml"}, {"tier", "b"}}));
  EXPECT_EQ(shown.at("description"), "for notebooks");
  EXPECT_TRUE(shown.at("readme").is_null());
}

TEST_F(ComputeProfile, WhatIsShownIsTakenBackAndWhatOnlyExaSaysIsLeftOut) {
  create("small", R"({"inputs": [{"name": "size", "type": "number"}]})");
  json::object shown = show("small").as_object();
  shown["readme"] = "more";
  shown["published"] = true;
  const Reply edited = exa.call("compute_profile.edit", {{"name", "small"}, {"file", shown}});
  EXPECT_EQ(edited.status, 200) << edited.body;
  EXPECT_THAT(edited.notices, Contains(HasSubstr("left out what only exa says")));
  EXPECT_EQ(show("small").at("readme"), "more");
  EXPECT_EQ(show("small").at("published"), false);
}

TEST_F(ComputeProfile, AFileIsJsonOrYamlAndEveryProblemIsToldAtOnce) {
  EXPECT_EQ(
      status("compute_profile.create", {{"name", "small"},
                                        {"file", "{environment_template: {name: vm, version: v1}}"},
                                        {"dry_run", true}}),
      201);
  EXPECT_EQ(status("compute_profile.create",
                   {{"name", "small"},
                    {"file", "# a comment\nenvironment_template: {name: vm, version: v1}\n"},
                    {"dry_run", true}}),
            201);
  EXPECT_THAT(
      problems(
          "compute_profile.create",
          {{"name", "small"}, {"file", "allocation: mine\ncolour: red\ninputs: [{name: 1x}]\n"}}),
      AllOf(Contains(StartsWith("/file/allocation ")), Contains(StartsWith("/file/colour ")),
            Contains(StartsWith("/file/inputs/0/name ")),
            Contains(StartsWith("/file/environment_template/name "))));
  EXPECT_THAT(problems("compute_profile.create", {{"name", "small"}, {"file", "a: [\n"}}),
              ElementsAre(StartsWith("/file ")));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(ComputeProfile, ADryRunChecksAllShowsItAndKeepsNothing) {
  const json::value shown = exa.ask("compute_profile.create",
                                    {{"name", "small"}, {"file", document()}, {"dry_run", true}});
  EXPECT_EQ(shown.at("version"), 1);
  EXPECT_THAT(names(), IsEmpty());
  create("small");
  EXPECT_EQ(exa.ask("compute_profile.edit", {{"name", "small"}, {"readme", "x"}, {"dry_run", true}})
                .at("version"),
            2);
  EXPECT_EQ(show("small").at("version"), 1);
}

TEST_F(ComputeProfile, IsPublishedOnlyWithAHardwareProfileThatIsThere) {
  exa.ask("hardware_profile.set", {{"name", "one"}, {"accelerator_family", "cpu"}, {"cpu", 2}});
  const Reply created =
      exa.call("compute_profile.create",
               {{"name", "small"}, {"file", document(R"({"hardware_profile": "one@7"})")}});
  EXPECT_EQ(created.status, 201);
  EXPECT_THAT(created.notices, Contains(HasSubstr("cannot be published yet: /hardware_profile")));
  EXPECT_THAT(problems("compute_profile.publish", {{"name", "small"}}),
              ElementsAre(StartsWith("/hardware_profile one has no version 7")));
  exa.ask("compute_profile.edit", {{"name", "small"}, {"hardware_profile", "one@1"}});
  publish("small");
  EXPECT_EQ(show("small").at("resources").at("cpu"), 2);
  // what is published stays so that it can be launched
  EXPECT_EQ(status("compute_profile.edit", {{"name", "small"}, {"hardware_profile", "one@7"}}),
            422);
  EXPECT_EQ(status("compute_profile.edit", {{"name", "small"}, {"hardware_profile", "none"}}), 200);
}

TEST_F(ComputeProfile, OnceDeletedIsNoLongerAvailableAndOnlyLookedAtByThoseWhoWriteIt) {
  create("small");
  publish("small");
  exa.ask("compute_profile.delete", {{"name", "small"}, {"reason", "too small"}});
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_FALSE(show("small@1").at("deleted_at").is_null());
  EXPECT_EQ(exa.ask("compute_profile.history", {{"name", "small"}}).at("items").as_array().size(),
            1U);
  for (const char* route :
       {"compute_profile.publish", "compute_profile.unpublish", "compute_profile.delete"})
    EXPECT_EQ(status(route, {{"name", "small"}}), 404) << route;
  EXPECT_EQ(status("compute_profile.edit", {{"name", "small"}, {"readme", "x"}}), 404);
  EXPECT_EQ(status("compute_profile.share", {{"name", "small"}, {"with", json::array{"all"}}}),
            404);
  as(Role::member, "default");
  EXPECT_EQ(status("compute_profile.show", {{"name", "small"}}), 404);
  EXPECT_EQ(status("compute_profile.show", {{"name", "small@1"}}), 404);
}

TEST_F(ComputeProfile, MadeAgainGoesOnWithTheNextNumberUnpublishedAndUnshared) {
  create("small");
  publish("small");
  share("small", {"all"});
  exa.ask("compute_profile.delete", {{"name", "small"}});
  EXPECT_EQ(create("small").at("version"), 2);
  EXPECT_EQ(show("small").at("published"), false);
  EXPECT_EQ(show("small").at("shared_with"), "none");
  EXPECT_TRUE(show("small").at("deleted_at").is_null());
}

TEST_F(ComputeProfile, IsSearchedForByNameDisplayNameAndDescription) {
  create("a-gpu", R"({"display_name": "Large", "description": "eight of them"})");
  create("b", R"({"display_name": "Two GPUs"})");
  create("c", R"({"description": "for gpu work"})");
  create("d", R"({"readme": "gpu"})");
  EXPECT_THAT(names("default", "GPU"), ElementsAre("a-gpu", "b", "c"));
  EXPECT_THAT(names("default", "eight OF"), ElementsAre("a-gpu"));
  EXPECT_THAT(names("default", "nothing"), IsEmpty());
}

TEST_F(ComputeProfile, IsListedWithNameCreationDateAndSharing) {
  create("small");
  share("small", {"vision"});
  exa.now = exa.now + hours(1);
  exa.ask("compute_profile.edit", {{"name", "small"}, {"readme", "x"}});
  const json::value item = exa.ask("compute_profile.list", {}).at("items").at(0);
  EXPECT_EQ(item.at("name"), "small");
  EXPECT_THAT(item.at("created_at").as_string().c_str(), StartsWith("2026-11-30T12:00:00"));
  EXPECT_EQ(item.at("shared_with"), json::array{"vision"});
  EXPECT_EQ(item.at("version"), 2);
}

TEST_F(ComputeProfile, OwnAndSharedOnesAreOneListInPages) {
  for (const char* name : {"b", "a", "c"}) create(name);
  for (const char* name : {"x", "y"}) {
    create(name, "{}", "vision");
    publish(name, "vision");
    exa.ask("compute_profile.share",
            {{"name", name}, {"with", json::array{"all"}}, {"project", "vision"}});
  }
  std::vector<std::string> seen;
  json::value cursor = nullptr;
  do {
    json::object args{{"limit", 2}};
    if (!cursor.is_null()) args["cursor"] = cursor;
    const json::value page = exa.ask("compute_profile.list", args);
    EXPECT_LE(page.at("items").as_array().size(), 2U);
    for (const json::value& item : page.at("items").as_array())
      seen.emplace_back(item.at("name").as_string());
    cursor = page.at("next_cursor");
  } while (!cursor.is_null());
  EXPECT_THAT(seen, ElementsAre("a", "b", "c", "vision/x", "vision/y"));
}

TEST_F(ComputeProfile, ShowsEverythingThatTheAdminConfigured) {
  const json::object all = document(R"({
      "name": "full", "description": "Two lines.\nOf text.", "allocation": "shared",
      "labels": {"team": "ml"}, "annotations": {"example.com/note": "a b"},
      "icon_url": "https://example.com/a.png", "readme": "# Full",
      "price_per_hour": {"amount": 2.5, "currency": "EUR"},
      "outputs": [{"name": "url", "label": "Address", "description": null, "secret": false}]})");
  exa.ask("compute_profile.create", {{"name", "full"}, {"file", all}});
  const json::value shown = show("full");
  for (const auto& member : all) EXPECT_EQ(shown.at(member.key()), member.value()) << member.key();
}

TEST_F(ComputeProfile, TwoVersionsAreComparedWithTheExitCodesOfDiff) {
  create("small");
  exa.ask("compute_profile.edit", {{"name", "small"}, {"allocation", "shared"}});
  const Reply differ = exa.call("compute_profile.diff", {{"name", "small"}, {"from", 1}});
  EXPECT_EQ(differ.exit_code, 1);
  EXPECT_THAT(differ.body, HasSubstr("allocation"));
  EXPECT_EQ(exa.call("compute_profile.diff", {{"name", "small"}, {"from", 2}, {"to", 2}}).exit_code,
            0);
  EXPECT_EQ(status("compute_profile.diff", {{"name", "small"}, {"from", 3}}), 404);
}

TEST_F(ComputeProfile, AChangeOfWhatWasChangedMeanwhileIsRefused) {
  create("small");
  Request request = build_request(*find_route("compute_profile.show"), {{"name", "small"}});
  const std::string read = exa.send(request).etag;
  ASSERT_FALSE(read.empty());
  exa.ask("compute_profile.edit", {{"name", "small"}, {"readme", "x"}});
  request =
      build_request(*find_route("compute_profile.edit"), {{"name", "small"}, {"readme", "y"}});
  request.if_match = read;
  EXPECT_EQ(exa.send(request).status, 412);
  EXPECT_EQ(show("small").at("readme"), "x");
}

TEST_F(ComputeProfile, OfRafayIsReadKeptAndWrittenBackAsItCame) {
  const std::string text = read_test_file("catalogue/rafay.yaml");
  EXPECT_EQ(exa.call("compute_profile.import", {{"file", text}}).status, 201);
  EXPECT_EQ(show("small-gpu-vm").at("imported"), true);
  const auto exported = [&] {
    return std::string(
        exa.ask("compute_profile.export", {{"name", "small-gpu-vm"}}).at("text").as_string());
  };
  EXPECT_THAT(exported(), HasSubstr("0190-1"));  // an id that nobody here knows
  const Reply again = exa.call("compute_profile.import", {{"file", text}});
  EXPECT_EQ(again.status, 200);
  EXPECT_THAT(again.notices, Contains(HasSubstr("nothing changed")));
  exa.ask("compute_profile.edit", {{"name", "small-gpu-vm"}, {"display_name", "Smaller"}});
  EXPECT_THAT(exported(), AllOf(HasSubstr("0190-1"), HasSubstr("Smaller")));
}

TEST_F(ComputeProfile, AChangeOfNothingLeavesItVouchedFor) {
  create("small");
  const json::object with_all{{"name", "small"}, {"with", json::array{"all"}}};
  for (int twice = 0; twice < 2; ++twice) {
    exa.ask("compute_profile.publish", {{"name", "small"}});
    exa.ask("compute_profile.share", with_all);
    exa.ask("compute_profile.edit", {{"name", "small"}, {"readme", "x"}});
  }
  for (int twice = 0; twice < 2; ++twice) exa.ask("compute_profile.unpublish", {{"name", "small"}});
  EXPECT_EQ(exa.ask("audit.verify", {}).at("ok"), true);
}

TEST_F(ComputeProfile, ItsChangesAreInTheLogWhichVouchesForTheRows) {
  create("small");
  exa.ask("compute_profile.edit", {{"name", "small"}, {"readme", "x"}, {"reason", "words"}});
  publish("small");
  share("small", {"all"});
  exa.ask("compute_profile.delete", {{"name", "small"}});
  EXPECT_EQ(exa.ask("audit.verify", {}).at("ok"), true);
  exa.tamper("UPDATE sku_version SET version = 7 WHERE id = 'default/small@1'");
  EXPECT_THAT(exa.call("audit.verify", {}).body,
              HasSubstr("version of sku_version default/small@1 is not what its document says"));
}

}  // namespace
}  // namespace exa
