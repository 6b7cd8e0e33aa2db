// `exa audit verify` against somebody who edits the tables and leaves the log alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::HasSubstr;

constexpr int kBroken = 9;

// One of everything that the log vouches for.
void prepare_everything(TestExa& exa) {
  exa.probe = [&exa]() -> Result<Capture> { return slurm_capture(exa.now); };
  exa.ask("project.create", {{"name", "vision"}});
  exa.ask("cluster.add", {{"name", "old"}, {"kind", "host"}});
  exa.ask("cluster.remove", {{"name", "old"}});
  exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
  exa.ask("cluster.discover", {{"name", "hpc"}});
  for (const char* name : {"a", "b"})
    exa.ask("hardware_profile.set", {{"name", name}, {"accelerator_family", "cpu"}});
  exa.ask("hardware_profile.set", {{"name", "a"}, {"accelerator_family", "cpu"}, {"cpu", 2}});
  exa.ask("hardware_profile.label", {{"name", "a"}, {"label", "active"}, {"version", 1}});
  exa.ask("hardware_profile.label", {{"name", "a"}, {"label", "stable"}, {"version", 2}});
  exa.ask("hardware_profile.deprecate", {{"name", "b"}, {"redirect", "a"}, {"reason", "old"}});
  exa.ask("hardware_profile.use", {{"name", "a"}, {"for", "training"}, {"as", "run"}});
  exa.ask("hardware_profile.use", {{"name", "a"}, {"for", "training"}, {"as", "ended"}});
  exa.ask("hardware_profile.release", {{"for", "training"}, {"as", "ended"}});
  exa.ask("hardware_profile.delete", {{"name", "a"}, {"version", 2}});
}

struct Attack {
  const char* statement;
  const char* says;
};

const Attack kAttacks[] = {
    {"UPDATE profile_version SET created_by = 'eve' WHERE version = 1 AND name = 'a'",
     "who set a@1, or when"},
    {"UPDATE profile_version SET created_at = 1 WHERE name = 'b'", "who set b@1, or when"},
    {"UPDATE profile_version SET deleted_by = 'eve' WHERE version = 2", "who deleted a@2"},
    {"UPDATE profile_label_move SET to_version = 2 WHERE name = 'b'",
     "move 1 of label active of b"},
    {"UPDATE profile_label_move SET moved_by = 'eve' WHERE name = 'b'",
     "who moved label active of b"},
    {"UPDATE profile_label_move SET moved_at = 1 WHERE name = 'b'", "who moved label active of b"},
    {"DELETE FROM profile_label_move WHERE label = 'stable'", "was moved 2 times"},
    {"INSERT INTO profile_label_move VALUES ('default', 'b', 'prod', 1, NULL, 1, 1, 'eve')",
     "label prod of b has a history"},
    {"UPDATE profile_deprecation SET redirect = 'evil'", "how b was retired"},
    {"UPDATE profile_deprecation SET reason = 'other'", "how b was retired"},
    {"UPDATE profile_deprecation SET deprecated_at = 1", "how b was retired"},
    {"DELETE FROM profile_deprecation", "b was retired, but its row is gone"},
    {"INSERT INTO profile_deprecation VALUES ('default', 'a', 0, 'b', '', 1, 'eve')",
     "a is marked as retired"},
    {"DELETE FROM consumer", "consumer default/training/run was recorded"},
    {"UPDATE consumer SET version = 7", "consumer default/training/run is not what"},
    {"UPDATE consumer SET recorded_by = 'eve'", "consumer default/training/run is not what"},
    {"INSERT INTO consumer SELECT project, kind, 'ended', profile, version, shape, cluster, since, "
     "recorded_by FROM consumer",
     "consumer default/training/ended is there"},
    {"UPDATE project SET created_by = 'eve' WHERE name = 'vision'", "who created project vision"},
    {"UPDATE project SET created_at = 1 WHERE name = 'vision'", "who created project vision"},
    {"UPDATE project SET created_by = 'eve' WHERE name = 'default'", "project default was never"},
    {"DELETE FROM project WHERE name = 'vision'", "project vision was created"},
    {"INSERT INTO project VALUES ('evil', 1, 'eve')", "project evil was never created"},
    {"UPDATE cluster SET address = '{\"ssh\":\"evil\",\"timeout\":\"30s\"}' WHERE name = 'hpc'",
     "cluster hpc is not the one that was added"},
    {"UPDATE cluster SET max_age = 1 WHERE name = 'hpc'", "cluster hpc is not the one"},
    {"UPDATE cluster SET removed_at = NULL WHERE name = 'old'", "cluster old was removed"},
    {"UPDATE cluster SET removed_at = 1 WHERE name = 'hpc'", "cluster hpc was never removed"},
    {"UPDATE cluster SET removed_at = 1 WHERE name = 'old'", "when cluster old was removed"},
    {"UPDATE cluster SET name = 'other' WHERE name = 'hpc'", "cluster other was never added"},
    {"UPDATE snapshot SET inventory = replace(inventory, 'h100', 'b200')", "is not what was seen"},
    {"UPDATE snapshot SET capacity = replace(capacity, '16', '99')", "is not what was seen"},
    {"UPDATE snapshot SET taken_at = taken_at + 1", "is not what was seen"},
    {"UPDATE snapshot SET declared = 1", "is not what was seen"},
    {"UPDATE snapshot SET id = 'x'", "snapshot x was never taken"},
};

json::value verdict_of(TestExa& exa) {
  const Reply reply = exa.call("audit.verify", {});
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.exit_code, kBroken) << reply.body;
  return parse_json(reply.body, "reply").value();
}

TEST(AuditState, WhatExaWroteFollowsFromTheLog) {
  TestExa exa;
  prepare_everything(exa);
  const Reply reply = exa.call("audit.verify", {});
  EXPECT_EQ(reply.exit_code, 0) << reply.body;
}

TEST(AuditState, EveryEditOfATableIsFound) {
  for (const Attack& attack : kAttacks) {
    TestExa exa;
    prepare_everything(exa);
    exa.tamper(attack.statement);
    const json::value verdict = verdict_of(exa);
    EXPECT_EQ(verdict.at("finding"), "state_differs") << attack.statement;
    EXPECT_THAT(to_text(verdict.at("unaccounted")), HasSubstr(attack.says)) << attack.statement;
  }
}

TEST(AuditState, AMissingTableIsAFinding) {
  for (const char* table :
       {"consumer", "probe", "resolution", "idempotency", "profile_label_move"}) {
    TestExa exa;
    prepare_everything(exa);
    exa.tamper(std::string("DROP TABLE ") + table);
    EXPECT_THAT(to_text(verdict_of(exa).at("unaccounted")),
                HasSubstr(std::string("the table ") + table + " cannot be read"));
  }
}

// One row that cannot be read must hide no other, and is no mistake of whoever asks.
TEST(AuditState, AStoredDocumentThatCannotBeReadIsAFindingAndVerifyGoesOn) {
  for (const char* statement :
       {"UPDATE profile_version SET shape = '{' WHERE version = 1",
        "UPDATE snapshot SET inventory = '{'", "UPDATE consumer SET shape = '['",
        "UPDATE cluster SET address = 'x' WHERE name = 'hpc'",
        "UPDATE profile_version SET created_at = 'x' WHERE version = 1"}) {
    if (std::string_view(statement).find("created_at = 'x'") != std::string_view::npos &&
        !test_postgres().empty()) {
      continue;  // PostgreSQL lets nobody put a text there
    }
    TestExa exa;
    prepare_everything(exa);
    exa.tamper(statement);
    exa.tamper("INSERT INTO project VALUES ('evil', 1, 'eve')");
    const std::string found = to_text(verdict_of(exa).at("unaccounted"));
    EXPECT_THAT(found, testing::AnyOf(HasSubstr("cannot be read"), HasSubstr("is not what")))
        << statement;
    EXPECT_THAT(found, HasSubstr("project evil")) << statement;
  }
}

TEST(StoredDamage, IsBlamedOnTheStoreAndNotOnTheInput) {
  TestExa exa;
  prepare_everything(exa);
  exa.tamper("UPDATE snapshot SET inventory = '{'");
  Reply reply = exa.call("hardware_profile.resolve", {{"name", "a"}, {"cluster", "hpc"}});
  EXPECT_EQ(reply.exit_code, info(Code::store_damaged).exit_code) << reply.body;
  exa.tamper("UPDATE profile_version SET shape = '{'");
  for (const char* route : {"hardware_profile.list", "hardware_profile.show"}) {
    const json::object args =
        std::string_view(route).ends_with("show") ? json::object{{"name", "a"}} : json::object{};
    reply = exa.call(route, args);
    EXPECT_EQ(reply.exit_code, info(Code::store_damaged).exit_code) << reply.body;
    EXPECT_THAT(reply.body, HasSubstr("exa audit verify"));
  }
}

TEST(AuditRecover, AnIntactLogHasNothingToRecover) {
  TestExa exa;
  prepare_everything(exa);
  const int64_t before = exa.audit_size();
  const Reply reply = exa.call("audit.recover", {{"reason", "to be sure"}});
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_THAT(reply.body, HasSubstr("\"recovered\": false"));
  EXPECT_THAT(testing::PrintToString(reply.notices), HasSubstr("nothing to recover"));
  EXPECT_EQ(exa.audit_size(), before);
}

}  // namespace
}  // namespace exa
