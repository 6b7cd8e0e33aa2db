// Accounts from the first setup to the last revoked token, through the router as any transport
// does.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"
#include "service/credentials.h"
#include "service/sign_in.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kPassword = "correct horse battery";

std::string text_of(const json::value& value, std::string_view key) {
  return std::string(value.at(key).as_string());
}

// ada owns the folder; grace administers vision; linus is a member of it; two projects.
struct Team {
  TestExa exa;
  Principal owner = exa.principal;

  Team() {
    for (const char* project : {"vision", "speech"}) exa.ask("project.create", {{"name", project}});
    for (const char* user : {"grace", "linus"})
      exa.ask("user.create", {{"name", user}, {"password", kPassword}});
    add("vision", "grace", "admin");
    add("vision", "linus", "member");
  }

  void add(const char* project, const char* user, const char* role) {
    exa.ask("project_member.add", {{"project", project}, {"name", user}, {"role", role}});
  }
  // Signs in with the password, as a browser would.
  Principal as(const std::string& user) {
    const auto session = sign_in(exa.service(), {user, SecretText(kPassword), "10.0.0.1", ""});
    EXPECT_TRUE(session) << session.error().message;
    return authenticate_session(exa.service(), session->id.reveal(), exa.now).value();
  }
  json::value token(const Principal& maker, json::object args) {
    exa.principal = maker;
    args["name"] = "ci";
    json::value made = exa.ask("token.create", args);
    exa.principal = owner;
    return made;
  }
  Result<Principal> with(const json::value& token) {
    return authenticate_token(exa.service(), text_of(token, "token"), exa.now);
  }
};

TEST(Tokens, ATokenIsWhoItsOwnerIsUntilItExpires) {
  Team team;
  const json::value made = team.token(team.as("linus"), {{"expires", "7d"}});
  EXPECT_TRUE(is_token(text_of(made, "token")));
  EXPECT_THAT(text_of(made, "token"), testing::StartsWith(text_of(made, "prefix")));
  const auto who = team.with(made);
  ASSERT_TRUE(who);
  EXPECT_EQ(who->name, "linus");
  EXPECT_EQ(who->rights.by_project.at("vision"), Role::member);
  EXPECT_EQ(who->token, text_of(made, "id"));
  team.exa.now = team.exa.now + (seconds(7 * 24 * 3600 - 1));
  EXPECT_TRUE(team.with(made));
  team.exa.now = team.exa.now + seconds(1);
  EXPECT_EQ(team.with(made).error().code, Code::unauthenticated);
}

TEST(Tokens, RevokingTakingTheRoleAwayAndDisablingHoldAtOnce) {
  Team team;
  const Principal linus = team.as("linus");
  const json::value one = team.token(linus, {});
  const json::value other = team.token(linus, {});
  team.exa.principal = linus;
  team.exa.ask("token.revoke", {{"id", one.at("id")}});
  EXPECT_FALSE(team.with(one));
  EXPECT_TRUE(team.with(other));
  team.exa.principal = team.owner;
  team.exa.ask("project_member.remove", {{"project", "vision"}, {"name", "linus"}});
  EXPECT_TRUE(team.with(other)->rights.by_project.empty());
  team.exa.ask("user.disable", {{"name", "linus"}});
  EXPECT_FALSE(team.with(other));
  team.exa.ask("user.disable", {{"name", "linus"}, {"undo", true}});
  EXPECT_TRUE(team.with(other));
}

TEST(Tokens, OfADisabledServiceAccountAreRefusedUntilThatIsUndone) {
  Team team;
  team.exa.ask(
      "service_account.create",
      {{"name", "bot"}, {"verbs", json::array{"usage:read"}}, {"projects", json::array{"vision"}}});
  const json::value made = team.token(team.owner, {{"for", "bot"}});
  EXPECT_TRUE(team.with(made));
  team.exa.principal = team.as("linus");  // a member, who could not have made it
  EXPECT_EQ(team.exa.call("service_account.disable", {{"name", "bot"}}).status, 404);
  team.exa.principal = team.as("grace");
  EXPECT_NE(team.exa.ask("service_account.disable", {{"name", "bot"}}).at("disabled_at"), nullptr);
  EXPECT_FALSE(team.with(made));
  EXPECT_EQ(team.exa.call("token.create", {{"name", "more"}, {"for", "bot"}}).status, 409);
  team.exa.ask("service_account.disable", {{"name", "bot"}, {"undo", true}});
  EXPECT_TRUE(team.with(made));
}

TEST(Lists, OfPeopleAndAccountsComeInPages) {
  Team team;
  for (const char* name : {"a", "b", "c"}) {
    team.exa.ask("user.create", {{"name", name}});
    team.exa.ask("group.create", {{"name", name}});
    team.add("vision", name, "viewer");
    team.exa.ask("service_account.create",
                 {{"name", std::string("bot-") + name}, {"verbs", json::array{"usage:read"}}});
    team.exa.ask("token.create", {{"name", "ci"}, {"for", std::string("bot-") + name}});
  }
  for (const char* route :
       {"user.list", "group.list", "project_member.list", "service_account.list", "token.list"}) {
    json::object args{{"limit", 2}};
    if (route == std::string_view("project_member.list")) args["project"] = "vision";
    json::object whole = args;
    whole["limit"] = 1000;
    const json::value all = team.exa.ask(route, whole).at("items");
    EXPECT_GE(all.as_array().size(), 3U) << route;
    json::array seen;
    for (;;) {
      const json::value page = team.exa.ask(route, args);
      for (const json::value& item : page.at("items").as_array()) seen.push_back(item);
      ASSERT_LE(page.at("items").as_array().size(), 2U) << route;
      if (page.at("next_cursor").is_null()) break;
      args["cursor"] = page.at("next_cursor");
    }
    EXPECT_EQ(json::value(seen), all) << route;
  }
}

TEST(Tokens, WhatWasMistypedWasNeverAToken) {
  const std::string token(new_token().reveal());
  ASSERT_TRUE(is_token(token));
  for (size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(is_token(changed)) << i;
  }
  for (const std::string& text :
       {std::string(), std::string("exa_pat_"), token + "0", token.substr(0, token.size() - 1),
        "exa_pat_" + std::string(39, '-')})
    EXPECT_FALSE(is_token(text));
  TestExa exa;
  EXPECT_EQ(authenticate_token(exa.service(), token, exa.now).error().code, Code::unauthenticated);
}

TEST(Tokens, TheStoreKeepsNoTokenNotEvenForARepeatedRequest) {
  Team team;
  team.exa.principal = team.as("linus");
  Request request = build_request(*find_route("token.create"), {{"name", "ci"}});
  request.idempotency_key = "k1";
  const json::value first = parse_json(team.exa.send(request).body, "reply").value();
  const json::value again = parse_json(team.exa.send(request).body, "reply").value();
  EXPECT_EQ(first.at("id"), again.at("id"));
  EXPECT_TRUE(again.at("token").is_null());
  EXPECT_EQ(team.exa.ask("token.list", {}).at("items").as_array().size(), 1U);
  EXPECT_THAT(to_text(team.exa.ask("token.list", {})), Not(HasSubstr(text_of(first, "token"))));
  EXPECT_THAT(to_text(team.exa.ask("token.list", {})), Not(HasSubstr("sha256")));
}

TEST(Tokens, LastUseIsWrittenOnceAMinuteAndIsNoEntry) {
  Team team;
  const json::value made = team.token(team.as("linus"), {});
  const int64_t size = team.exa.audit_size();
  const auto last_used = [&] {
    return team.exa.ask("token.list", {}).at("items").at(0).at("last_used");
  };
  EXPECT_TRUE(last_used().is_null());
  EXPECT_TRUE(team.with(made));
  const json::value first = last_used();
  team.exa.now = team.exa.now + seconds(59);
  EXPECT_TRUE(team.with(made));
  EXPECT_EQ(last_used(), first);
  team.exa.now = team.exa.now + seconds(1);
  EXPECT_TRUE(team.with(made));
  EXPECT_NE(last_used(), first);
  EXPECT_EQ(team.exa.audit_size(), size);
}

TEST(Tokens, ATokenIsNarrowedToItsScopesAndProjects) {
  Team team;
  team.add("speech", "linus", "admin");
  const json::value made = team.token(
      team.as("linus"),
      {{"scope", json::array{"hardware_profile:read"}}, {"projects", json::array{"vision"}}});
  team.exa.principal = team.with(made).value();
  EXPECT_EQ(team.exa.call("hardware_profile.list", {{"project", "vision"}}).status, 200);
  EXPECT_EQ(team.exa.call("hardware_profile.list", {{"project", "speech"}}).status, 404);
  const Reply refused = team.exa.call("lease.list", {{"project", "vision"}});
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("this token was not made for placement:read"));
}

TEST(Escalation, NobodyGrantsWhatTheyLack) {
  Team team;
  TestExa& exa = team.exa;
  exa.principal = team.as("grace");  // admin of vision
  EXPECT_EQ(exa.call("user.role", {{"name", "grace"}, {"role", "platform-admin"}}).status, 403);
  EXPECT_EQ(exa.call("user.create", {{"name", "eve"}, {"role", "platform-admin"}}).status, 403);
  EXPECT_EQ(exa.call("group.add", {{"name", "admins"}, {"user", "grace"}}).status, 403);
  EXPECT_EQ(
      exa.call("project_member.add", {{"project", "speech"}, {"name", "grace"}, {"role", "viewer"}})
          .status,
      404);
  EXPECT_EQ(exa.call("service_account.create", {{"name", "robot"},
                                                {"verbs", json::array{"cluster:write"}},
                                                {"projects", json::array{"vision"}}})
                .status,
            403);
  EXPECT_EQ(exa.call("service_account.create", {{"name", "robot"},
                                                {"verbs", json::array{"project_residency:write"}},
                                                {"projects", json::array{"vision"}}})
                .status,
            403);
  EXPECT_EQ(
      exa.call("token.create", {{"name", "ci"}, {"scope", json::array{"cluster:write"}}}).status,
      403);
  EXPECT_EQ(exa.call("user.password", {{"name", "linus"}, {"password", kPassword}}).status, 403);
  // nor does a session alone take an account over
  EXPECT_EQ(exa.call("user.password", {{"name", "grace"}, {"password", "another long one"}}).status,
            403);
  EXPECT_EQ(
      exa.call("user.password",
               {{"name", "grace"}, {"password", kPassword}, {"current", "wrong horse battery"}})
          .status,
      403);
  exa.ask("user.password", {{"name", "grace"}, {"password", kPassword}, {"current", kPassword}});
  // a token of hers for reading makes no wider and no longer token, and no account
  const json::value narrow = team.token(
      team.as("grace"),
      {{"scope", json::array{"token:write", "hardware_profile:read"}}, {"expires", "1d"}});
  exa.principal = team.with(narrow).value();
  EXPECT_EQ(
      exa.call("token.create", {{"name", "ci"}, {"scope", json::array{"hardware_profile:write"}}})
          .status,
      403);
  const json::value child = exa.ask("token.create", {{"name", "ci"}, {"expires", "90d"}});
  EXPECT_EQ(child.at("scopes"), narrow.at("scopes"));
  EXPECT_EQ(child.at("expires_at"), narrow.at("expires_at"));
  EXPECT_EQ(exa.call("service_account.create", {{"name", "robot"},
                                                {"verbs", json::array{"hardware_profile:read"}},
                                                {"projects", json::array{"vision"}}})
                .status,
            403);
}

TEST(Escalation, ATokenNarrowedToAProjectIsNoPlatformAdmin) {
  Team team;
  team.exa.ask("user.create",
               {{"name", "root"}, {"password", kPassword}, {"role", "platform-admin"}});
  const json::value made = team.token(team.as("root"), {{"projects", json::array{"vision"}}});
  team.exa.principal = team.with(made).value();
  EXPECT_EQ(team.exa.call("hardware_profile.list", {{"project", "vision"}}).status, 200);
  EXPECT_EQ(team.exa.call("hardware_profile.list", {{"project", "speech"}}).status, 404);
  EXPECT_EQ(team.exa.call("user.create", {{"name", "eve"}}).status, 403);
  EXPECT_EQ(team.exa.call("audit.list", {}).status, 403);
}

TEST(ServiceAccounts, DoTheirVerbsInTheirProjectsAndNothingElse) {
  Team team;
  TestExa& exa = team.exa;
  exa.principal = team.as("grace");
  exa.ask("service_account.create", {{"name", "robot"},
                                     {"verbs", json::array{"hardware_profile:read"}},
                                     {"projects", json::array{"vision"}}});
  const json::value made = exa.ask("token.create", {{"name", "ci"}, {"for", "robot"}});
  exa.principal = team.with(made).value();
  EXPECT_EQ(exa.principal.kind, "service-account");
  EXPECT_EQ(exa.call("hardware_profile.list", {{"project", "vision"}}).status, 200);
  EXPECT_EQ(exa.call("hardware_profile.list", {{"project", "speech"}}).status, 404);
  EXPECT_EQ(exa.call("lease.list", {{"project", "vision"}}).status, 403);
  EXPECT_EQ(exa.call("cluster.list", {}).status, 403);
  exa.principal = team.as("linus");  // no admin: it is not there
  EXPECT_EQ(exa.call("token.create", {{"name", "ci"}, {"for", "robot"}}).status, 404);
  EXPECT_EQ(exa.call("token.revoke", {{"id", made.at("id")}}).status, 404);
}

TEST(Groups, ARoleOfAGroupIsItsMembers) {
  Team team;
  TestExa& exa = team.exa;
  exa.ask("group.create", {{"name", "crew"}});
  exa.ask("project_member.add",
          {{"project", "speech"}, {"name", "crew"}, {"role", "admin"}, {"group", true}});
  EXPECT_FALSE(known_projects(team.as("linus").rights).contains("speech"));
  exa.ask("group.add", {{"name", "crew"}, {"user", "linus"}});
  EXPECT_EQ(team.as("linus").rights.by_project.at("speech"), Role::admin);
  exa.ask("group.remove", {{"name", "crew"}, {"user", "linus"}});
  EXPECT_FALSE(known_projects(team.as("linus").rights).contains("speech"));
}

TEST(SignIn, UnknownNamesAndWrongPasswordsAreOneAnswerAndSlowDown) {
  Team team;
  Service& service = team.exa.service();
  const auto wrong = [&](const char* user, const char* origin) {
    return sign_in(service, {user, SecretText("wrong horse battery"), origin, ""}).error();
  };
  EXPECT_EQ(wrong("grace", "10.0.0.2"), wrong("nobody-known", "10.0.0.3"));
  for (int i = 0; i < 9; ++i) EXPECT_EQ(wrong("grace", "10.0.0.4").code, Code::unauthenticated);
  EXPECT_EQ(wrong("grace", "10.0.0.5").code, Code::too_many_requests);
  // the right password waits as well, or guessing would go on; elsewhere nobody waits
  EXPECT_FALSE(sign_in(service, {"grace", SecretText(kPassword), "10.0.0.6", ""}));
  EXPECT_TRUE(sign_in(service, {"linus", SecretText(kPassword), "10.0.0.6", ""}));
  team.exa.now = team.exa.now + minutes(1);
  EXPECT_TRUE(sign_in(service, {"grace", SecretText(kPassword), "10.0.0.6", ""}));
}

TEST(SignIn, AnAddressThatGuessesWaitsWhateverItsPortAndTheName) {
  Team team;
  Service& service = team.exa.service();
  const auto guess = [&](const std::string& user, int port) {
    return sign_in(service,
                   {user, SecretText("wrong password"), "10.0.0.9:" + std::to_string(port), ""})
        .error()
        .code;
  };
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(guess("user-" + std::to_string(i), 40000 + i), Code::unauthenticated);
  EXPECT_EQ(guess("linus", 40010), Code::too_many_requests);
  EXPECT_TRUE(sign_in(service, {"linus", SecretText(kPassword), "10.0.0.10:40000", ""}));
}

TEST(SignIn, GuessesMadeAtTheSameTimeDoNotAllPass) {
  Team team;
  Service& service = team.exa.service();
  std::atomic<int> judged = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 24; ++i) {
    threads.emplace_back([&, i] {
      const auto done = sign_in(service, {"grace", SecretText("wrong password"),
                                          "10.0.1." + std::to_string(i) + ":1", ""});
      if (done.error().code == Code::unauthenticated) ++judged;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(judged, 10);
}

TEST(SignIn, ASessionEndsIdleAfterTwelveHoursAtSignOutAndAtTheNextSignIn) {
  Team team;
  Service& service = team.exa.service();
  const auto begin = [&](const std::string& old) {
    return std::string(
        sign_in(service, {"grace", SecretText(kPassword), "here", old}).value().id.reveal());
  };
  const auto holds = [&](const std::string& id) {
    return authenticate_session(service, id, team.exa.now).has_value();
  };
  const std::string first = begin("");
  EXPECT_TRUE(holds(first));
  const std::string second = begin(first);
  EXPECT_NE(first, second);
  EXPECT_FALSE(holds(first));
  team.exa.now = team.exa.now + minutes(29);
  EXPECT_TRUE(holds(second));  // and it was seen
  team.exa.now = team.exa.now + minutes(30);
  EXPECT_FALSE(holds(second));
  const std::string third = begin("");
  for (int i = 0; i < 24; ++i) {
    EXPECT_TRUE(holds(third)) << i;
    team.exa.now = team.exa.now + minutes(29);
  }
  team.exa.now = team.exa.now + minutes(29);
  EXPECT_FALSE(holds(third));
  const std::string fourth = begin("");
  EXPECT_TRUE(sign_out(service, fourth, "here"));
  EXPECT_FALSE(holds(fourth));
  EXPECT_TRUE(sign_out(service, fourth, "here"));
  EXPECT_EQ(team.exa.ask("audit.verify", {}).at("ok"), true);
}

TEST(Setup, TheCodeMakesTheFirstAdminOnce) {
  TestExa exa;
  Caller starter;
  starter.principal = exa.principal;
  starter.action = "setup.code";
  const std::string old(make_setup_code(exa.service(), starter).value().reveal());
  const std::string code(make_setup_code(exa.service(), starter).value().reveal());
  exa.principal = {};
  const auto use = [&](const std::string& given) {
    return exa.call("setup.complete", {{"code", given}, {"user", "ada"}, {"password", kPassword}})
        .status;
  };
  EXPECT_EQ(use("guess"), 401);
  EXPECT_EQ(use(old), 401);
  EXPECT_EQ(use(code), 201);
  EXPECT_EQ(use(code), 401);
  EXPECT_EQ(make_setup_code(exa.service(), starter).error().code, Code::conflict);
  const auto session = sign_in(exa.service(), {"ada", SecretText(kPassword), "here", ""});
  ASSERT_TRUE(session);
  exa.principal = authenticate_session(exa.service(), session->id.reveal(), exa.now).value();
  EXPECT_EQ(exa.call("user.list", {}).status, 200);
}

TEST(Oidc, AnIdentityBecomesAUserWhoseGroupsFollowTheProvider) {
  Team team;
  TestExa& exa = team.exa;
  exa.ask("group.create", {{"name", "crew"}, {"oidc_group", "ml-team"}});
  exa.ask("project_member.add",
          {{"project", "vision"}, {"name", "crew"}, {"role", "viewer"}, {"group", true}});
  OidcIdentity who{"https://id.example.org", "42", "Grace", "Grace H.", {"ml-team", "other"}};
  const Principal first = upsert_oidc_user(exa.service(), who, "here").value();
  EXPECT_EQ(first.name, "grace-2");  // the name is taken by somebody with a password
  const json::value entry = exa.ask("audit.list", {{"action", "session.oidc"}}).at("items").at(0);
  EXPECT_EQ(entry.at("actor_name"), "grace-2");  // and grace did not do it
  EXPECT_EQ(first.rights.by_project.at("vision"), Role::viewer);
  who.groups = {"other"};
  const Principal second = upsert_oidc_user(exa.service(), who, "here").value();
  EXPECT_EQ(second.name, first.name);
  EXPECT_TRUE(second.rights.by_project.empty());
  EXPECT_FALSE(sign_in(exa.service(), {first.name, SecretText(kPassword), "here", ""}));
  exa.ask("user.disable", {{"name", first.name}});
  EXPECT_FALSE(upsert_oidc_user(exa.service(), who, "here"));
}

TEST(Limits, TwoHundredAtOnceNeverTakeMoreThanSix) {
  Team team;
  TestExa& exa = team.exa;
  exa.ask("pool.add", {{"name", "pool"}, {"accelerator", "nvidia"}, {"count", 64}});
  exa.ask("project_limits.set", {{"project", "vision"}, {"family", "nvidia"}, {"at_once", 6}});
  std::atomic<int> taken = 0;
  std::atomic<int> blocked = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 200; ++i) {
    threads.emplace_back([&, i] {
      const Reply reply = exa.call(
          "placement.place",
          {{"name", "job-" + std::to_string(i)}, {"reserve", true}, {"project", "vision"}});
      if (reply.status == 201) ++taken;
      if (reply.exit_code == 7) ++blocked;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 6);
  EXPECT_EQ(blocked, 194);
  const json::value limits = exa.ask("project_limits.get", {{"project", "vision"}});
  EXPECT_EQ(limits.at("items").at(0).at("held"), 6);
}

TEST(Limits, NameTheLimitWhatIsHeldAndWhatWasAsked) {
  Team team;
  TestExa& exa = team.exa;
  exa.ask("pool.add", {{"name", "pool"}, {"accelerator", "nvidia"}, {"count", 64}});
  exa.ask("project_limits.set",
          {{"project", "vision"}, {"family", "nvidia"}, {"at_once", 6}, {"per_request", 4}});
  const auto place = [&](int gpus) {
    return exa.call("placement.place",
                    {{"name", "job"}, {"gpus", gpus}, {"reserve", true}, {"project", "vision"}});
  };
  EXPECT_THAT(place(5).body, HasSubstr("at most 4 nvidia devices in one request; asked 5"));
  EXPECT_EQ(place(4).status, 201);
  const Reply over = place(3);
  EXPECT_EQ(over.exit_code, 7);
  EXPECT_THAT(over.body, HasSubstr("at most 6 nvidia devices at once; held 4, asked 3"));
  EXPECT_EQ(place(2).status, 201);
  exa.now = exa.now + hours(2);  // those leases have ended
  EXPECT_EQ(place(4).status, 201);
  exa.ask("project_limits.set", {{"project", "vision"}, {"family", "nvidia"}, {"lift", true}});
  EXPECT_EQ(place(12).status, 201);
}

TEST(Sharing, ASharedProfileIsUsedByItsFullNameAndNeverChanged) {
  Team team;
  TestExa& exa = team.exa;
  exa.ask("hardware_profile.set",
          {{"name", "small"}, {"accelerator_family", "cpu"}, {"cpu", 2}, {"project", "speech"}});
  const json::object named{{"name", "speech/small"}, {"project", "vision"}};
  const std::string before = exa.call("hardware_profile.show", named).body;
  EXPECT_THAT(before, HasSubstr("not_found"));
  exa.ask("hardware_profile.share",
          {{"name", "small"}, {"with", json::array{"vision"}}, {"project", "speech"}});
  EXPECT_EQ(exa.ask("hardware_profile.show", named).at("project"), "speech");
  const json::value listed =
      exa.ask("hardware_profile.list", {{"shared", true}, {"project", "vision"}});
  EXPECT_EQ(listed.at("items").at(0).at("name"), "speech/small");
  const json::value used = exa.ask(
      "hardware_profile.use",
      {{"name", "speech/small"}, {"for", "training"}, {"as", "run"}, {"project", "vision"}});
  EXPECT_EQ(used.at("profile"), "speech/small@1");
  EXPECT_EQ(exa.call("hardware_profile.delete", named).status, 422);
  EXPECT_EQ(
      exa.call("hardware_profile.set",
               {{"name", "speech/small"}, {"accelerator_family", "cpu"}, {"project", "vision"}})
          .status,
      422);
  exa.ask("hardware_profile.share",
          {{"name", "small"}, {"with", json::array{"none"}}, {"project", "speech"}});
  EXPECT_EQ(exa.call("hardware_profile.show", named).body, before);
  // who runs on it keeps its shape
  const json::value in_use = exa.ask("hardware_profile.in_use", {{"project", "vision"}});
  EXPECT_EQ(in_use.at("items").at(0).at("shape").at("cpu"), 2);
  EXPECT_EQ(exa.ask("audit.verify", {}).at("ok"), true);
}

struct Attack {
  const char* statement;
  const char* says;
};

// Whoever writes the database can make themselves nobody without the log telling.
TEST(AccountsInTheLog, EveryRowAndColumnIsVouchedFor) {
  const Attack attacks[] = {
      {"UPDATE role_binding SET role = 'admin' WHERE subject = 'linus'", "role of role_binding"},
      {"UPDATE role_binding SET subject = 'eve' WHERE subject = 'linus'",
       "subject of role_binding"},
      {"UPDATE role_binding SET project = 'speech' WHERE subject = 'linus'",
       "project of role_binding"},
      {"INSERT INTO role_binding VALUES ('*/user/linus', '{}', NULL, 'user', 'linus', "
       "'platform-admin')",
       "role_binding */user/linus is there"},
      {"DELETE FROM role_binding WHERE subject = 'grace'", "its row is gone"},
      {"UPDATE user_password SET hash = 'x' WHERE name = 'grace'", "hash of user_password"},
      {"UPDATE user_password SET spec = '{\"name\":\"grace\"}' WHERE name = 'grace'",
       "user_password grace is not the one"},
      {"UPDATE account_user SET disabled_at = 1", "disabled_at of user"},
      {"UPDATE access_token SET expires_at = 9000000000000000", "expires_at of token"},
      {"UPDATE access_token SET sha256 = 'x'", "sha256 of token"},
      {"UPDATE access_token SET owner = 'linus'", "owner of token"},
      {"UPDATE group_member SET user_name = 'linus'", "user_name of group_member"},
      {"UPDATE account_group SET oidc_group = 'x'", "oidc_group of group"},
      {"UPDATE service_account SET spec = '{\"name\":\"robot\",\"verbs\":[\"user:write\"]}'",
       "service_account robot is not the one"},
      {"UPDATE sign_in_session SET user_name = 'linus'", "user_name of session"},
      {"UPDATE sign_in_session SET sha256 = 'x'", "sha256 of session"},
      {"UPDATE project_limits SET spec = '{}'", "project_limits vision is not the one"},
      {"DELETE FROM project_limits", "its row is gone"},
      {"UPDATE profile_share SET spec = '{\"with\":\"all\"}'", "profile_share vision/small"},
      {"UPDATE profile_share SET project = 'speech'", "project of profile_share"},
  };
  for (const Attack& attack : attacks) {
    Team team;
    TestExa& exa = team.exa;
    exa.ask("group.create", {{"name", "crew"}});
    exa.ask("group.add", {{"name", "crew"}, {"user", "grace"}});
    exa.ask("service_account.create", {{"name", "robot"},
                                       {"verbs", json::array{"usage:read"}},
                                       {"projects", json::array{"vision"}}});
    exa.ask("hardware_profile.set",
            {{"name", "small"}, {"accelerator_family", "cpu"}, {"project", "vision"}});
    exa.ask("hardware_profile.share",
            {{"name", "small"}, {"with", json::array{"speech"}}, {"project", "vision"}});
    exa.ask("project_limits.set", {{"project", "vision"}, {"family", "amd"}, {"at_once", 0}});
    team.token(team.as("grace"), {});
    ASSERT_EQ(exa.ask("audit.verify", {}).at("ok"), true);
    exa.tamper(attack.statement);
    EXPECT_THAT(exa.call("audit.verify", {}).body, HasSubstr(attack.says)) << attack.statement;
  }
}

TEST(AccountsInTheLog, NoSecretStandsInIt) {
  Team team;
  const json::value made = team.token(team.as("grace"), {});
  const std::string log = team.exa.call("audit.export", {}).body;
  EXPECT_THAT(log, HasSubstr("token.create"));
  for (const std::string& secret :
       {std::string(kPassword), text_of(made, "token"), hash_of_secret(text_of(made, "token")),
        std::string("$argon2id")})
    EXPECT_THAT(log, Not(HasSubstr(secret)));
}

}  // namespace
}  // namespace exa
