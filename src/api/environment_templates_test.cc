// The life of an environment template: draft, active, disabled, gone; and who is shown what.
#include "service/environment_templates.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class EnvironmentTemplatesTest : public testing::Test {
 protected:
  EnvironmentTemplatesTest() {
    copy_ = exa_.folder() / "templates" / "vm";
    std::filesystem::create_directories(copy_.parent_path());
    std::filesystem::copy(template_folder("script"), copy_,
                          std::filesystem::copy_options::recursive);
  }

  json::object vm(json::object more = {}) const {
    json::object args{
        {"name", "vm"}, {"version", "v1"}, {"driver", "script"}, {"folder", copy_.string()}};
    for (const auto& member : more) args[member.key()] = member.value();
    return args;
  }
  json::value ask(std::string_view verb) {
    return exa_.ask("environment_template." + std::string(verb),
                    {{"name", "vm"}, {"version", "v1"}});
  }
  Reply call(std::string_view verb) {
    return exa_.call("environment_template." + std::string(verb),
                     {{"name", "vm"}, {"version", "v1"}});
  }
  void put(const std::string& name, std::string_view text) const {
    std::ofstream(copy_ / name, std::ios::binary) << text;
  }
  static std::string code_of(const Reply& reply) {
    const auto body = parse_json(reply.body, "reply");
    return std::string(text_or(body.value(), "code", "none"));
  }
  // What keeps it from being launched, as the use case of launching hears it.
  std::vector<std::string> in_the_way(bool drafts_too) {
    std::vector<std::string> lines;
    const auto read = exa_.store().read([&](Transaction& tx) -> Result<void> {
      EXA_ASSIGN(const EnvironmentTemplate what, find_template(tx, {"vm", "v1"}));
      for (const Problem& problem : problems_of_launching(tx, what, drafts_too))
        lines.push_back(problem.where + " " + problem.message);
      return {};
    });
    EXPECT_TRUE(read);
    return lines;
  }

  TestExa exa_;
  std::filesystem::path copy_;
};

TEST_F(EnvironmentTemplatesTest, ADraftIsForThoseWhoMayUseDrafts) {
  const json::value added = exa_.ask("environment_template.add", vm());
  EXPECT_EQ(added.at("state"), "draft");
  EXPECT_TRUE(added.at("digest").is_null());
  EXPECT_THAT(added.at("problems").as_array(), IsEmpty());
  EXPECT_THAT(in_the_way(true), IsEmpty());
  EXPECT_THAT(in_the_way(false), ElementsAre(" vm@v1 is a draft"));
}

TEST_F(EnvironmentTemplatesTest, ADraftIsReplacedByAddingItAgain) {
  exa_.ask("environment_template.add", vm());
  put("template.json", R"({"inputs": {"size": {"type": "text"}}, "outputs": {}})");
  EXPECT_THAT(in_the_way(true), ElementsAre("template.json was changed since the draft was added"));
  const Reply again = exa_.call("environment_template.add", vm({{"time_limit", "5m"}}));
  EXPECT_EQ(again.status, 200);
  const json::value shown = ask("show");
  EXPECT_EQ(shown.at("inputs").at(0).at("name"), "size");
  EXPECT_EQ(shown.at("time_limit"), "5m");
  EXPECT_THAT(in_the_way(true), IsEmpty());
}

TEST_F(EnvironmentTemplatesTest, ActivationTakesTheDigestOfWhatIsThereThen) {
  exa_.ask("environment_template.add", vm());
  put("template.json", R"({"inputs": {"size": {"type": "text"}}, "outputs": {}})");
  const json::value active = ask("activate");
  EXPECT_EQ(active.at("state"), "active");
  EXPECT_EQ(active.at("digest"), json::value(digest_of_folder(copy_).value()));
  EXPECT_EQ(active.at("inputs").at(0).at("name"), "size");
  EXPECT_THAT(in_the_way(false), IsEmpty());
  EXPECT_EQ(ask("activate").at("digest"), active.at("digest"));  // nothing changed meanwhile
}

TEST_F(EnvironmentTemplatesTest, AFolderThatChangedSinceIsRefusedByName) {
  exa_.ask("environment_template.add", vm());
  ask("activate");
  put("more", "x");
  EXPECT_THAT(in_the_way(false),
              ElementsAre(" vm@v1 was changed since it was activated, and a version means one "
                          "content"));
  const Reply refused = call("activate");
  EXPECT_EQ(code_of(refused), "conflict");
  EXPECT_THAT(refused.body, HasSubstr("exa environment-template add vm --version NEXT"));
  const Reply anew = exa_.call("environment_template.add", vm());
  EXPECT_EQ(code_of(anew), "conflict");
  EXPECT_THAT(anew.body, HasSubstr("vm@v1 is active, and a version means one content"));
  ask("disable");
  EXPECT_EQ(code_of(call("activate")), "conflict");
  std::filesystem::remove(copy_ / "more");
  EXPECT_EQ(ask("activate").at("state"), "active");
  EXPECT_EQ(exa_.ask("environment_template.add", vm({{"version", "v2"}})).at("state"), "draft");
}

TEST_F(EnvironmentTemplatesTest, ADisabledOneTakesNoNewInstances) {
  exa_.ask("environment_template.add", vm());
  ask("activate");
  EXPECT_EQ(ask("disable").at("state"), "disabled");
  for (const bool drafts_too : {false, true})
    EXPECT_THAT(in_the_way(drafts_too), ElementsAre(" vm@v1 is disabled: no new instances"));
  EXPECT_EQ(code_of(call("disable")), "conflict");
}

TEST_F(EnvironmentTemplatesTest, WhatIsWrongIsToldAllAtOnce) {
  put("template.json", R"({"inputs": {"a": {"type": "int"}}, "output": {}})");
  const Reply refused =
      exa_.call("environment_template.add",
                vm({{"name", "VM"}, {"version", "1 2"}, {"image", "i"}, {"time_limit", "30h"}}));
  EXPECT_EQ(refused.status, 422);
  const auto body = parse_json(refused.body, "reply");
  std::vector<std::string> places;
  for (const json::value& problem : body->at("errors").as_array())
    places.emplace_back(problem.at("pointer").as_string());
  EXPECT_THAT(places, ElementsAre("/name", "/version", "/time_limit", "/image",
                                  "template.json/output", "template.json/inputs/a/type"));
  EXPECT_THAT(exa_.ask("environment_template.list", {}).at("items").as_array(), IsEmpty());
}

TEST_F(EnvironmentTemplatesTest, AFolderWithoutTemplateJsonIsNone) {
  std::filesystem::remove(copy_ / "template.json");
  EXPECT_THAT(exa_.call("environment_template.add", vm()).body,
              HasSubstr("is missing: it declares what goes in and comes out"));
  const Reply nowhere = exa_.call("environment_template.add", vm({{"folder", "/nowhere"}}));
  EXPECT_EQ(nowhere.status, 422);
}

TEST_F(EnvironmentTemplatesTest, WhatIsMissingHereIsToldWhenItIsAddedAndKeepsItFromActivation) {
  std::filesystem::permissions(copy_ / "run", std::filesystem::perms::owner_read);
  const Reply added = exa_.call("environment_template.add", vm());
  EXPECT_EQ(added.status, 201);
  EXPECT_THAT(added.notices, Contains(HasSubstr("run is not executable")));
  EXPECT_THAT(in_the_way(true), Contains(HasSubstr("run is not executable")));
  EXPECT_EQ(call("activate").status, 422);
  // a program may come later: it is no part of the version
  put("main.tf", "");
  const Reply tofu =
      exa_.call("environment_template.add", vm({{"version", "v2"}, {"driver", "opentofu"}}));
  const bool has_tofu = find_program("tofu", kProgramFolders).has_value();
  EXPECT_EQ(has_tofu, std::ranges::none_of(tofu.notices, [](const std::string& notice) {
              return notice.find("tofu: is what the driver opentofu runs") != std::string::npos;
            }));
  exa_.ask("environment_template.activate", {{"name", "vm"}, {"version", "v2"}});
}

TEST_F(EnvironmentTemplatesTest, OneForASchedulerNamesAClusterOfItsKind) {
  const auto of = [&](json::object more) {
    return exa_.call("environment_template.add", vm([&] {
                       json::object args{{"driver", "slurm"}, {"folder", template_folder("slurm")}};
                       for (const auto& member : more) args[member.key()] = member.value();
                       return args;
                     }()));
  };
  EXPECT_THAT(of({}).body, HasSubstr("/cluster"));
  EXPECT_THAT(of({{"cluster", "hpc"}}).body, HasSubstr("there is no cluster"));
  prepare(exa_);
  exa_.ask("cluster.add", {{"name", "here"}, {"kind", "host"}});
  EXPECT_THAT(of({{"cluster", "here"}}).body, HasSubstr("here is a cluster of kind host"));
  EXPECT_EQ(of({{"cluster", "hpc"}, {"partition", "gpu"}}).status, 201);
  ask("activate");
  EXPECT_THAT(in_the_way(false), IsEmpty());
  exa_.ask("cluster.remove", {{"name", "hpc"}});
  EXPECT_THAT(in_the_way(false), ElementsAre(HasSubstr("/cluster there is no cluster")));
}

TEST_F(EnvironmentTemplatesTest, WhereItsFolderIsIsShownToAdministratorsAlone) {
  exa_.ask("environment_template.add", vm());
  std::filesystem::remove(copy_ / "run");
  EXPECT_EQ(ask("show").at("folder"), json::value(copy_.string()));
  exa_.principal = {"user", "grace", "user:grace", {}, "", {}};
  exa_.principal.rights.by_project["default"] = Role::admin;
  for (const Reply& reply : {call("show"), exa_.call("environment_template.list", {})}) {
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_THAT(reply.body, HasSubstr("\"folder\": null"));
    EXPECT_THAT(reply.body, Not(HasSubstr(copy_.string())));
  }
  EXPECT_THAT(call("show").body, HasSubstr("its folder: there is no file run in the template"));
}

// Rows as they are kept, of a project that the caller knows and of one that they do not.
TEST_F(EnvironmentTemplatesTest, OneThatIsNamedByAVersionOrAnInstanceStays) {
  exa_.ask("environment_template.add", vm());
  exa_.ask("project.create", {{"name", "secret"}});
  const std::string named = R"({"environment_template":{"name":"vm","version":"v1"}})";
  exa_.tamper("INSERT INTO sku_version VALUES ('default/small@1', 'default', 'small', 1, '" +
              named + "')");
  EXPECT_EQ(code_of(call("remove")), "in_use");
  EXPECT_THAT(call("remove").body, HasSubstr("compute profile default/small@1 uses vm@v1"));
  exa_.tamper("DELETE FROM sku_version");
  exa_.tamper(
      "INSERT INTO instance VALUES ('secret/mine', 'secret', 'default/small', 0, "
      "'{\"pinned\":" +
      named + "}')");
  EXPECT_THAT(call("remove").body, HasSubstr("instance secret/mine uses vm@v1"));
  exa_.principal.rights = {};
  exa_.principal.rights.verbs = {"environment_template:write"};
  exa_.principal.rights.verb_projects = {"default"};
  const Reply hidden = call("remove");
  EXPECT_EQ(code_of(hidden), "in_use");
  EXPECT_THAT(hidden.body, HasSubstr("an instance of another project uses vm@v1"));
  EXPECT_THAT(hidden.body, Not(HasSubstr("mine")));
  exa_.principal = owner_of_folder("ada", "uid:1000");
  // another version, another template
  exa_.tamper(R"(UPDATE instance SET spec = '{"environment_template":{"name":"vm","version":)"
              R"("v2"},"name":"vm"}')");
  EXPECT_EQ(ask("remove").at("removed"), true);
}

TEST_F(EnvironmentTemplatesTest, AnActiveOneIsDisabledBeforeItIsRemoved) {
  exa_.ask("environment_template.add", vm());
  ask("activate");
  const Reply refused = call("remove");
  EXPECT_EQ(code_of(refused), "conflict");
  EXPECT_THAT(refused.body, HasSubstr("exa environment-template disable vm --version v1"));
  ask("disable");
  ask("remove");
  EXPECT_EQ(call("show").status, 404);
  EXPECT_TRUE(std::filesystem::exists(copy_ / "run"));
}

TEST_F(EnvironmentTemplatesTest, AVersionThatIsNotThereNamesThoseThatAre) {
  exa_.ask("environment_template.add", vm());
  const Reply reply = exa_.call("environment_template.show", {{"name", "vm"}, {"version", "v9"}});
  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(reply.body, HasSubstr("\"vm@v1\""));
  EXPECT_THAT(exa_.call("environment_template.show", {{"name", "vn"}, {"version", "v1"}}).body,
              HasSubstr("\"vm@v1\""));
}

TEST_F(EnvironmentTemplatesTest, WhatWasDoneIsWhatTheLogVouchesFor) {
  exa_.ask("environment_template.add", vm());
  ask("activate");
  EXPECT_EQ(exa_.ask("audit.verify", {}).at("ok"), true);
  exa_.tamper("UPDATE environment_template SET spec = replace(spec, 'active', 'draft')");
  EXPECT_NE(exa_.call("audit.verify", {}).exit_code, 0);
}

}  // namespace
}  // namespace exa
