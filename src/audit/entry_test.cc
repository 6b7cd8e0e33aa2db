#include "audit/entry.h"

#include <gmock/gmock.h>

#include "audit/instant.h"
#include "audit/sample_log.h"

namespace exa {
namespace {

using ::exa::testing::sample_entry;
using ::testing::HasSubstr;

TEST(Entry, ReadsBackWhatItWrote) {
  for (int64_t i = 0; i < 20; ++i) {
    const AuditEntry entry = sample_entry(i);
    EXPECT_EQ(audit_entry_from_leaf(leaf_text(entry).value()), entry) << i;
    EXPECT_EQ(audit_entry_from_json(to_json(entry)), entry) << i;
  }
  AuditEntry without_version = sample_entry(0);
  without_version.object_version.reset();
  EXPECT_EQ(audit_entry_from_leaf(leaf_text(without_version).value()), without_version);
}

TEST(Entry, TheLeafIsTheCanonicalTextOfTheFormatPage) {
  AuditEntry entry;
  entry.time = Time{1'000'001};
  entry.actor_kind = "user";
  entry.action = "cluster.add";
  entry.outcome = "done";
  entry.details["b"] = 2;
  entry.details["a"] = "é\n";
  EXPECT_EQ(
      leaf_text(entry).value(),
      R"({"action":"cluster.add","actor_id":"","actor_kind":"user","actor_name":"","after_digest":"",)"
      R"("before_digest":"","details":{"a":"é\n","b":2},"error_code":"","format":1,"index":0,)"
      R"("object_kind":"","object_name":"","object_version":null,"origin":"","outcome":"done",)"
      R"("project":"","reason":"","time":"1970-01-01T00:00:01.000001Z"})");
}

TEST(Entry, EveryFieldChangesTheLeaf) {
  const json::object original = to_json(sample_entry(4)).as_object();
  const std::string leaf = exa::testing::sample_leaf(4);
  for (const auto& member : original) {
    EXPECT_THAT(leaf, HasSubstr(fmt::format("\"{}\":{}", std::string_view(member.key()),
                                            to_canonical_text(member.value()))));
  }
}

struct BadEntry {
  std::string_view what;
  std::function<void(json::object&)> change;
  std::string_view where;
};

class EntryRules : public ::testing::TestWithParam<BadEntry> {};

TEST_P(EntryRules, AreKeptOnReading) {
  json::object object = to_json(sample_entry(3)).as_object();
  GetParam().change(object);
  const auto entry = audit_entry_from_json(object);
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code, Code::invalid_input);
  ASSERT_EQ(entry.error().problems.size(), 1);
  EXPECT_EQ(entry.error().problems[0].where, GetParam().where);
}

const BadEntry kBadEntries[] = {
    {"AnUnknownField", [](json::object& o) { o["color"] = "red"; }, "/color"},
    {"AMissingField", [](json::object& o) { o.erase("reason"); }, "/reason"},
    {"AnotherInPlaceOfAMissingField",
     [](json::object& o) {
       o.erase("details");
       o["details"] = json::array{};
     },
     "/details"},
    {"ATextAsNumber", [](json::object& o) { o["action"] = 1; }, "/action"},
    {"AFractionAsIndex", [](json::object& o) { o["index"] = 3.0; }, "/index"},
    {"ANegativeIndex", [](json::object& o) { o["index"] = -1; }, "/index"},
    {"ATextAsVersion", [](json::object& o) { o["object_version"] = "1"; }, "/object_version"},
    {"ANewerFormat", [](json::object& o) { o["format"] = 2; }, "/format"},
    {"ATimeWithAnOffset", [](json::object& o) { o["time"] = "2026-11-30T06:26:01.000123+00:00"; },
     "/time"},
    {"ATimeWithoutMicroseconds", [](json::object& o) { o["time"] = "2026-11-30T06:26:01Z"; },
     "/time"},
    {"ALeapSecond", [](json::object& o) { o["time"] = "2026-11-30T06:26:60.000000Z"; }, "/time"},
    {"ASmallT", [](json::object& o) { o["time"] = "2026-11-30t06:26:01.000000Z"; }, "/time"},
    {"AnUnknownActorKind", [](json::object& o) { o["actor_kind"] = "robot"; }, "/actor_kind"},
    {"NoAction", [](json::object& o) { o["action"] = ""; }, "/action"},
    {"AnUnknownOutcome", [](json::object& o) { o["outcome"] = "maybe"; }, "/outcome"},
    {"ARefusalWithoutCode", [](json::object& o) { o["outcome"] = "refused"; }, "/error_code"},
    {"ACodeWithoutRefusal", [](json::object& o) { o["error_code"] = "conflict"; }, "/error_code"},
    {"ADigestInCapitals", [](json::object& o) { o["after_digest"] = std::string(64, 'A'); },
     "/after_digest"},
    {"AShortDigest", [](json::object& o) { o["before_digest"] = "ab"; }, "/before_digest"},
};

INSTANTIATE_TEST_SUITE_P(Entry, EntryRules, ::testing::ValuesIn(kBadEntries),
                         [](const auto& bad) { return std::string(bad.param.what); });

TEST(Entry, AllProblemsAreListedAtOnce) {
  const auto entry = audit_entry_from_json(json::object{{"colour", 1}});
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().problems.size(), 19);  // 18 missing, 1 unknown
}

TEST(Entry, AKeyThatStandsTwiceIsRefused) {
  std::string leaf = exa::testing::sample_leaf(1);
  leaf.insert(1, R"("index":1,)");
  EXPECT_FALSE(audit_entry_from_leaf(leaf));
}

TEST(Entry, BytesThatAreNotUtf8AreLoggedInPrintableForm) {
  AuditEntry entry = sample_entry(0);
  entry.object_name = "bad\xffname";
  entry.details["\xfe"] = json::array{"ok", "\x80"};
  const auto back = audit_entry_from_leaf(leaf_text(entry).value());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->object_name, "bad\\xffname");
  EXPECT_EQ(to_canonical_text(back->details),
            R"({"\\xfe":["ok","\\x80"],"labels":["prod","next"]})");
}

TEST(Entry, WhatNoVerifierCouldReadIsNotWritten) {
  AuditEntry too_long = sample_entry(0);
  too_long.reason.assign(kMaxLeafBytes, 'x');
  EXPECT_FALSE(leaf_text(too_long));

  AuditEntry too_deep = sample_entry(0);
  json::value nested = 1;
  for (int i = 0; i < 70; ++i) nested = json::array{nested};
  too_deep.details["n"] = nested;
  EXPECT_FALSE(leaf_text(too_deep));

  AuditEntry bad_outcome = sample_entry(0);
  bad_outcome.outcome = "perhaps";
  EXPECT_FALSE(leaf_text(bad_outcome));

  AuditEntry far_away = sample_entry(0);
  far_away.time = Time{INT64_MAX};
  EXPECT_FALSE(leaf_text(far_away));
}

TEST(Entry, TheLongestLeafStillFits) {
  AuditEntry entry = sample_entry(0);
  entry.reason.clear();
  const size_t rest = leaf_text(entry).value().size();
  entry.reason.assign(kMaxLeafBytes - rest, 'x');
  EXPECT_EQ(leaf_text(entry).value().size(), kMaxLeafBytes);
  entry.reason += 'x';
  EXPECT_FALSE(leaf_text(entry));
}

TEST(Instant, TheYearsThatCanBeSpelledEndExactlyWhereTheyShould) {
  const Time first = exact_time("0000-01-01T00:00:00.000000Z").value();
  const Time last = exact_time("9999-12-31T23:59:59.999999Z").value();
  EXPECT_TRUE(has_exact_time(first));
  EXPECT_TRUE(has_exact_time(last));
  EXPECT_FALSE(has_exact_time(Time{first.micros - 1}));
  EXPECT_FALSE(has_exact_time(Time{last.micros + 1}));
}

}  // namespace
}  // namespace exa
