// Nobody overwrites what they have not read: If-Match on what is replaced as a whole.
#include "service/entity_tag.h"

#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

Reply send(TestExa& exa, std::string_view route, const json::object& args,
           const std::string& if_match, bool required = false, const std::string& key = "") {
  Request request = build_request(*find_route(route), args);
  request.if_match = if_match;
  request.requires_match = required;
  request.idempotency_key = key;
  return exa.send(std::move(request));
}

std::string code_of(const Reply& reply) {
  return std::string(text_or(parse_json(reply.body, "reply").value().as_object(), "code", ""));
}

struct Kind412 {
  std::string_view read;
  std::string_view write;
  json::object name;
  json::object change;
  json::object other_change;
};

// One of each kind that is replaced, as it is read and written.
std::vector<Kind412> kinds() {
  return {
      {"pool.show", "pool.add", {{"name", "own"}}, {{"count", 9}}, {{"count", 10}}},
      {"engine.show",
       "engine.add",
       {{"name", "mine"}},
       {{"backends", json::array{"rocm"}}},
       {{"backends", json::array{"cpu"}}}},
      {"region.show",
       "region.set",
       {{"region", "attic"}},
       {{"jurisdiction", "uk"}},
       {{"jurisdiction", "ch"}}},
      {"burst_policy.get", "burst_policy.set", {}, {{"cloud", "off"}}, {{"cloud", "on"}}},
      {"project.residency_show",
       "project.residency",
       {{"name", "default"}},
       {{"class", "open"}},
       {{"class", "restricted"}}},
  };
}

void prepare_kinds(TestExa& exa) {
  exa.ask("pool.add", {{"name", "own"}, {"accelerator", "nvidia"}});
  exa.ask("engine.add", {{"name", "mine"}, {"backends", json::array{"cuda"}}});
  exa.ask("region.set", {{"region", "attic"}, {"jurisdiction", "eu"}});
  exa.ask("project.residency", {{"name", "default"}, {"class", "eu-only"}});
  exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
}

json::object with(json::object args, const json::object& more) {
  for (const auto& member : more) args[member.key()] = member.value();
  return args;
}

TEST(EntityTag, TheTagThatWasReadLetsOneChangeThroughAndNotTheNext) {
  for (const Kind412& kind : kinds()) {
    TestExa exa;
    prepare_kinds(exa);
    const std::string tag = exa.call(kind.read, kind.name).etag;
    ASSERT_FALSE(tag.empty()) << kind.read;
    const Reply first = send(exa, kind.write, with(kind.name, kind.change), tag);
    EXPECT_EQ(first.status, 200) << kind.write << first.body;
    EXPECT_NE(first.etag, tag) << kind.write;
    EXPECT_EQ(first.etag, exa.call(kind.read, kind.name).etag) << kind.write;
    const Reply late = send(exa, kind.write, with(kind.name, kind.other_change), tag);
    EXPECT_EQ(late.status, 412) << kind.write << late.body;
    EXPECT_EQ(code_of(late), "stale");
    EXPECT_EQ(exa.call(kind.read, kind.name).etag, first.etag) << "nothing was changed";
    EXPECT_EQ(
        send(exa, kind.write, with(kind.name, kind.other_change), "\"x\", " + first.etag).status,
        200)
        << "one of several tags is enough";
  }
}

TEST(EntityTag, WithoutATagAChangeIsRefusedWhereTheTransportWantsOne) {
  for (const Kind412& kind : kinds()) {
    TestExa exa;
    prepare_kinds(exa);
    const json::object args = with(kind.name, kind.change);
    const Reply bare = send(exa, kind.write, args, "", true);
    EXPECT_EQ(bare.status, 428) << kind.write << bare.body;
    EXPECT_EQ(code_of(bare), "match_needed");
    EXPECT_EQ(send(exa, kind.write, args, "*", true).status, 200) << kind.write;
  }
}

TEST(EntityTag, WhatIsNotThereIsCreatedWithoutATagAndNeverWithOne) {
  TestExa exa;
  const json::object args{{"name", "new"}, {"accelerator", "amd"}};
  EXPECT_EQ(send(exa, "pool.add", args, "*", true).status, 412);
  EXPECT_EQ(send(exa, "pool.add", args, "", true).status, 201);
}

TEST(EntityTag, ARemovalIsGuardedAsAChangeIs) {
  TestExa exa;
  prepare_kinds(exa);
  for (const auto& [route, args] : std::vector<std::pair<std::string_view, json::object>>{
           {"pool.remove", {{"name", "own"}}},
           {"engine.remove", {{"name", "mine"}}},
           {"region.unset", {{"region", "attic"}}},
           {"cluster.remove", {{"name", "hpc"}}}}) {
    EXPECT_EQ(send(exa, route, args, "\"old\"").status, 412) << route;
    EXPECT_EQ(send(exa, route, args, "", true).status, 428) << route;
    EXPECT_EQ(send(exa, route, args, "*", true).status, 200) << route;
  }
}

TEST(EntityTag, WhatIsWorkedOutAroundAPoolDoesNotChangeItsTag) {
  TestExa exa;
  prepare_kinds(exa);
  const std::string tag = exa.call("pool.show", {{"name", "own"}}).etag;
  exa.ask("placement.place", {{"name", "train"}, {"reserve", true}});
  EXPECT_EQ(exa.call("pool.show", {{"name", "own"}}).etag, tag);
}

TEST(EntityTag, AReplayedRequestIsAnsweredAsItWasAlthoughItsTagIsOldByNow) {
  TestExa exa;
  prepare_kinds(exa);
  const std::string tag = exa.call("pool.show", {{"name", "own"}}).etag;
  const json::object args{{"name", "own"}, {"count", 9}};
  const Reply first = send(exa, "pool.add", args, tag, true, "key");
  const Reply again = send(exa, "pool.add", args, tag, true, "key");
  EXPECT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(again.body, first.body);
}

TEST(EntityTag, ADryRunIsHeldAgainstTheTagAsWell) {
  TestExa exa;
  prepare_kinds(exa);
  EXPECT_EQ(
      send(exa, "pool.add", {{"name", "own"}, {"count", 9}, {"dry_run", true}}, "\"old\"").status,
      412);
}

TEST(EntityTag, ARouteThatReplacesNothingRefusesTheHeader) {
  TestExa exa;
  const Reply reply = send(exa, "hardware_profile.list", {}, "*");
  EXPECT_EQ(reply.status, 422);
  EXPECT_NE(reply.body.find("If-Match"), std::string::npos);
}

TEST(EntityTag, AWeakTagNeverMatches) {
  const std::optional<json::value> there = json::value("x");
  const std::string tag = entity_tag_of(*there);
  EXPECT_TRUE(check_match(tag, true, there));
  EXPECT_EQ(check_match("W/" + tag, true, there).error().code, Code::stale);
}

}  // namespace
}  // namespace exa
