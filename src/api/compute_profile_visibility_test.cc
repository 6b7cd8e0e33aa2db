// Who sees which compute profile, over every way of asking: generated profiles and people, held
// against one rule of a few lines.
#include <random>

#include "api/compute_profiles_for_test.h"
#include "service/events.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kProjects = {"default", "vision", "nlp"};
const std::string kNeverMade = "sku-z";  // as close to all of them as they are to each other

struct Person {
  std::string project;       // where they work; of a platform-admin any
  std::optional<Role> role;  // none: a platform-admin
};

struct Made {
  std::string owner;
  std::string name;
  bool published = false;
  bool deleted = false;
  std::vector<std::string> with;
};

bool writes(const Person& who, const Made& made) {
  return !who.role || (*who.role == Role::admin && who.project == made.owner);
}

// The rule.
bool reaches(const Person& who, const Made& made) {
  if (!made.published || made.deleted) return false;
  const auto has = [&](const std::string& word) {
    return std::ranges::find(made.with, word) != made.with.end();
  };
  return who.project == made.owner || has("all") || has(who.project);
}
bool sees(const Person& who, const Made& made) {
  return writes(who, made) || reaches(who, made);
}

class ComputeProfileVisibility : public ComputeProfiles {
 protected:
  void make(const Made& made) {
    const json::object of{{"name", made.name}, {"project", made.owner}};
    create(made.name, R"({"description": "secret words"})", made.owner);
    json::object args = of;
    args["readme"] = "second";
    exa.ask("compute_profile.edit", args);
    args = of;
    args["with"] = json::array(made.with.begin(), made.with.end());
    exa.ask("compute_profile.share", args);
    if (made.published) exa.ask("compute_profile.publish", of);
    if (made.deleted) exa.ask("compute_profile.delete", of);
  }

  void be(const Person& who) {
    as_owner();
    if (who.role) as(*who.role, who.project);
  }

  bool lists(const Person& who, const Made& made, const std::string& search) {
    const std::string shown = who.project == made.owner ? made.name : made.owner + "/" + made.name;
    const auto listed = names(who.project, search);
    return std::ranges::find(listed, shown) != listed.end();
  }

  // Of every way of looking at one, whether it answers.
  void expect_sight(const Person& who, const Made& made) {
    const std::string ref = made.owner + "/" + made.name;
    const bool seen = sees(who, made);
    const bool writer = writes(who, made);
    EXPECT_EQ(lists(who, made, ""),
              seen && !made.deleted && (who.project == made.owner || reaches(who, made)));
    EXPECT_EQ(lists(who, made, "secret words"), lists(who, made, ""));
    for (const auto& [route, more] :
         {std::pair<const char*, json::object>{"compute_profile.show", {}},
          {"compute_profile.history", {}},
          {"compute_profile.diff", {{"from", 2}}},
          {"compute_profile.inputs", {}},
          {"compute_profile.check", {}},
          {"compute_profile.export", {}}}) {
      json::object args = more;
      args["name"] = ref;
      args["project"] = who.project;
      const Reply reply = exa.call(route, args);
      EXPECT_EQ(reply.status, seen ? 200 : 404) << route << reply.body;
      if (seen) continue;
      // what is not there is told in the same words
      args["name"] = made.owner + "/" + kNeverMade;
      const Reply absent = exa.call(route, args);
      std::string told = reply.body;
      for (size_t at = 0; (at = told.find(made.name, at)) != std::string::npos;)
        told.replace(at, made.name.size(), kNeverMade);
      EXPECT_EQ(told, absent.body) << route;
    }
    json::object old{{"name", ref + "@1"}, {"project", who.project}};
    EXPECT_EQ(exa.call("compute_profile.show", old).status, writer ? 200 : 404);
    // close to it, it is proposed to those alone who see it
    old["name"] = made.owner + "/" + made.name + "x";
    const Reply close = exa.call("compute_profile.show", old);
    if (!seen) {
      EXPECT_THAT(close.body, Not(HasSubstr(made.name + "\"")));
    }
    const Reply heard = exa.call("event.list", {{"since", 0}, {"limit", 1000}});
    EXPECT_EQ(heard.body.find("\"" + ref + "\"") != std::string::npos, writer) << heard.body;
  }
};

TEST_F(ComputeProfileVisibility, IsTheRulesOverEveryWayOfAsking) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto any = [&](size_t below) {
    return std::uniform_int_distribution<size_t>(0, below - 1)(random);
  };
  std::vector<Made> all;
  for (int i = 0; i < 14; ++i) {
    Made made{kProjects[any(3)],
              "sku-" + std::string(1, static_cast<char>('a' + i)),
              any(3) != 0,
              any(5) == 0,
              {}};
    for (const std::string& project : kProjects)
      if (project != made.owner && any(3) == 0) made.with.push_back(project);
    if (made.with.empty()) made.with.emplace_back(any(2) == 0 ? "all" : "none");
    make(made);
    all.push_back(std::move(made));
  }
  for (const std::string& project : kProjects) {
    for (const std::optional<Role> role : {std::optional(Role::viewer), std::optional(Role::member),
                                           std::optional(Role::admin), std::optional<Role>()}) {
      const Person who{project, role};
      be(who);
      for (const Made& made : all) {
        SCOPED_TRACE(testing::Message()
                     << (role ? name(*role) : "platform-admin") << " of " << project << ", "
                     << made.owner << "/" << made.name << (made.published ? " published" : " draft")
                     << (made.deleted ? " deleted" : "") << " with " << made.with[0]);
        expect_sight(who, made);
      }
    }
  }
}

TEST_F(ComputeProfileVisibility, WhomItIsSharedWithAndWhoWroteItIsForThoseWhoWriteIt) {
  make({"default", "small", true, false, {"vision", "nlp"}});
  as(Role::member, "vision");
  const Reply shown =
      exa.call("compute_profile.show", {{"name", "default/small"}, {"project", "vision"}});
  EXPECT_EQ(shown.status, 200);
  EXPECT_THAT(shown.body, Not(HasSubstr("nlp")));
  EXPECT_THAT(shown.body, Not(HasSubstr("ada")));
  EXPECT_TRUE(shown.etag.empty());
  const Reply history =
      exa.call("compute_profile.history", {{"name", "default/small"}, {"project", "vision"}});
  EXPECT_EQ(parse_json(history.body, "reply")->at("items").as_array().size(), 1U);
  EXPECT_THAT(exa.call("compute_profile.list", {{"project", "vision"}}).body,
              Not(HasSubstr("nlp")));
}

TEST_F(ComputeProfileVisibility, AnImportedDocumentIsForThoseWhoWriteIt) {
  exa.ask("compute_profile.import", {{"file", read_test_file("catalogue/rafay.yaml")}});
  template_of("small-gpu-vm");
  publish("small-gpu-vm");
  EXPECT_THAT(exa.call("compute_profile.export", {{"name", "small-gpu-vm"}}).body,
              HasSubstr("0190-1"));
  as(Role::member, "default");
  const Reply exported = exa.call("compute_profile.export", {{"name", "small-gpu-vm"}});
  EXPECT_EQ(exported.status, 200);
  EXPECT_THAT(exported.body, Not(HasSubstr("0190-1")));
}

TEST_F(ComputeProfileVisibility, ARepeatedReplyIsForThoseWhoMayStillWrite) {
  as(Role::admin, "default");
  const json::object args{{"name", "small"}, {"file", document(R"({"readme": "a draft"})")}};
  EXPECT_EQ(exa.call("compute_profile.create", args, "key-1").status, 201);
  EXPECT_EQ(exa.call("compute_profile.create", args, "key-1").status, 201);
  as(Role::viewer, "default");
  const Reply later = exa.call("compute_profile.create", args, "key-1");
  EXPECT_EQ(later.status, 403);
  EXPECT_THAT(later.body, Not(HasSubstr("a draft")));
}

// What is stored and cannot be read as a sharing is shared with nobody.
TEST_F(ComputeProfileVisibility, WhatIsNotUnderstoodIsSharedWithNobody) {
  make({"default", "small", true, false, {"all"}});
  for (const char* with : {"\"everybody\"", "true", "{}", "[1]"}) {
    exa.tamper(std::string("UPDATE sku SET spec = '{\"project\":\"default\",\"name\":\"small\","
                           "\"latest_version\":2,\"published\":true,\"shared_with\":") +
               with +
               ",\"created_at\":\"2026-01-01T00:00:00Z\",\"changed_at\":\"2026-01-01T00:00:00Z\","
               "\"deleted_at\":null}'");
    as(Role::admin, "vision");
    EXPECT_THAT(names("vision"), testing::IsEmpty()) << with;
    as_owner();
  }
}

}  // namespace
}  // namespace exa
