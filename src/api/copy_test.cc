// An installation that moves between stores is the same one afterwards.
#include "service/copy.h"

#include <gmock/gmock.h>

#include "api/testing.h"
#include "service/audit_log.h"
#include "store/tables.h"

namespace exa {
namespace {

using testing::HasSubstr;

// Every row of every table, as text, in the order of its key.
std::vector<std::string> content(Store& store) {
  std::vector<std::string> lines;
  EXPECT_TRUE(store.read([&](Transaction& tx) -> Result<void> {
    for (const TableKey& table : tables_of(migrations())) {
      EXA_ASSIGN(const auto rows, tx.rows(fmt::format("SELECT * FROM {} ORDER BY {}", table.table,
                                                      fmt::join(table.columns, ", "))));
      for (const Row& row : rows) {
        std::string line = table.table;
        for (size_t i = 0; i < row.size(); ++i) {
          const Value& value = row.value(i);
          if (const auto* number = std::get_if<int64_t>(&value))
            line += fmt::format("|{}", *number);
          if (const auto* text = std::get_if<std::string>(&value)) line += "|" + *text;
          if (const auto* bytes = std::get_if<Bytes>(&value)) line += "|b" + bytes->data;
          if (row.is_null(i)) line += "|null";
        }
        lines.push_back(std::move(line));
      }
    }
    return {};
  }));
  return lines;
}

void fill(TestExa& exa) {
  prepare(exa);
  exa.ask("project.create", {{"name", "vision"}});
  for (int i = 0; i < 3; ++i) exa.ask("hardware_profile.set", eight_h100());
  exa.ask("hardware_profile.resolve", {{"name", "eight"}, {"cluster", "hpc"}});
  exa.ask("pool.add", {{"name", "lab"}, {"accelerator", "nvidia"}, {"count", 8}, {"region", "eu"}});
  exa.ask("placement.place", {{"name", "train"}, {"gpus", 2}, {"reserve", true}});
  EXPECT_GE(exa.call("pool.add", {{"name", "lab"}, {"accelerator", "x"}, {"count", 8}}).status,
            400);
}

// From the backend under test to each one there is, and back.
std::vector<Backend> destinations() {
  std::vector<Backend> backends = {Backend::sqlite};
  if (!test_postgres().empty()) backends.push_back(Backend::postgres);
  return backends;
}

TEST(Copy, IsTheSameInstallationWithItsLogIntactThereAndBackAgain) {
  for (const Backend backend : destinations()) {
    TestExa exa;
    fill(exa);
    const Clock clock = [&] { return exa.now; };
    const PlaceForStores there(backend);
    const PlaceForStores back(Backend::sqlite);
    const auto target = there.open();
    const auto again = back.open();
    const Installation source = {exa.store(), exa.folder()};
    const auto copied = copy_installation(source, {*target, there.folder()}, clock);
    ASSERT_TRUE(copied) << copied.error().message;
    EXPECT_EQ(content(*target), content(exa.store()));
    const auto returned =
        copy_installation({*target, there.folder()}, {*again, back.folder()}, clock);
    ASSERT_TRUE(returned) << returned.error().message;
    EXPECT_EQ(content(*again), content(exa.store()));

    // and goes on: the next entry follows the last one
    AuditTrail trail(there.folder());
    Service service(*target, trail, {clock, [] { return "id"; }, {}});
    Router router(service);
    Request request = build_request(*find_route("project.create"), {{"name", "after"}});
    request.principal = owner_of_folder("ada", "uid:1000");
    EXPECT_EQ(router.handle(request).status, 201);
    EXPECT_EQ(verify_audit(service, {})->exit_code, 0);
  }
}

TEST(Copy, NeverGoesOverWhatIsThere) {
  TestExa exa;
  TestExa other;
  fill(exa);
  other.ask("project.create", {{"name", "mine"}});
  const auto before = content(other.store());
  const PlaceForStores elsewhere(Backend::sqlite);
  const Clock clock = [&] { return exa.now; };
  const auto files =
      copy_installation({exa.store(), exa.folder()}, {other.store(), other.folder()}, clock);
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, Code::conflict);
  EXPECT_THAT(files.error().message, HasSubstr("belongs to another log"));
  const auto tables =
      copy_installation({exa.store(), exa.folder()}, {other.store(), elsewhere.folder()}, clock);
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, Code::conflict);
  EXPECT_THAT(tables.error().message, HasSubstr("is not empty"));
  EXPECT_EQ(content(other.store()), before);
  EXPECT_FALSE(std::filesystem::exists(elsewhere.folder() / "audit.key"));
}

TEST(Copy, ALogThatDoesNotVerifyGoesNowhere) {
  TestExa exa;
  fill(exa);
  exa.tamper("UPDATE audit_entry SET leaf = '{}' WHERE idx = 1");
  const PlaceForStores there(Backend::sqlite);
  const auto target = there.open();
  const auto refused = copy_installation({exa.store(), exa.folder()}, {*target, there.folder()},
                                         [&] { return exa.now; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::audit_broken);
  EXPECT_TRUE(std::filesystem::is_empty(there.folder()));
}

TEST(Backup, ThatFailsLeavesNothingInTheWayOfTheNext) {
  TestExa exa;
  fill(exa);
  exa.tamper("UPDATE audit_entry SET leaf = '{}' WHERE idx = 1");
  const std::string folder = (exa.folder() / "backup").string();
  EXPECT_GE(exa.call("backup.create", {{"folder", folder}}).status, 400);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(Backup, AskedForAgainWithItsKeyIsNotMadeAgain) {
  TestExa exa;
  fill(exa);
  const std::string folder = (exa.folder() / "backup").string();
  const Reply first = exa.call("backup.create", {{"folder", folder}}, "key-1");
  ASSERT_EQ(first.status, 201) << first.body;
  const Reply again = exa.call("backup.create", {{"folder", folder}}, "key-1");
  EXPECT_EQ(again.status, 201) << again.body;
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(exa.call("backup.create", {{"folder", folder}}, "key-2").status, 422);
}

TEST(Backup, AnOlderOneUnderANewerCheckpointAsksForARecovery) {
  TestExa exa;
  fill(exa);
  const PlaceForStores place(Backend::sqlite);
  const auto backup = place.folder() / "backup";
  exa.ask("backup.create", {{"folder", backup.string()}});
  exa.ask("project.create", {{"name", "later"}});
  // the database is lost; the files of its log are still there
  const auto home = place.folder() / "home";
  std::filesystem::create_directory(home);
  for (const std::string_view file : {kAuditKeyFile, kAuditPublicKeyFile, kAuditCheckpointFile})
    std::filesystem::copy(exa.folder() / file, home / file);
  const auto from = open_sqlite({.folder = backup}).value();
  const auto to = open_sqlite({.folder = home}).value();
  const Clock clock = [&] { return exa.now; };
  const auto restored = restore_installation({*from, backup}, {*to, home}, clock);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_TRUE(restored->body.at("needs_recovery").as_bool());

  AuditTrail trail(home);
  Service service(*to, trail, {clock, [] { return "id"; }, {}});
  Router router(service);
  const auto create = [&](const char* name) {
    Request request = build_request(*find_route("project.create"), {{"name", name}});
    request.principal = owner_of_folder("ada", "uid:1000");
    return router.handle(request);
  };
  EXPECT_GE(create("too-early").status, 400);
  Request recover = build_request(*find_route("audit.recover"), {{"reason", "the disk was lost"}});
  recover.principal = owner_of_folder("ada", "uid:1000");
  EXPECT_LT(router.handle(recover).status, 300);
  EXPECT_EQ(create("after").status, 201);
}

}  // namespace
}  // namespace exa
