#include "cli/local.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/route.h"
#include "base/json.h"

namespace exa {
namespace {

using testing::HasSubstr;

Reply ask(LocalServer& server, std::string_view route, const json::object& args) {
  return server.handle(build_request(*find_route(route), args));
}

Clock noon() {
  return [] { return parse_rfc3339("2026-11-30T12:00:00Z").value(); };
}

LocalServer without_folder() {
  const auto nothing = [](const std::string&) -> std::optional<std::string> { return {}; };
  return LocalServer(data_folder({}, nothing), noon(), seconds(1));
}

TEST(LocalServer, ABundleIsVerifiedWithoutADataFolder) {
  std::string pattern = testing::TempDir() + "exa-local-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  std::string bundle;
  {
    LocalServer server(folder, noon(), seconds(1));
    ASSERT_LT(ask(server, "project.create", {{"name", "vision"}}).status, 400);
    bundle = ask(server, "audit.export", {}).body;
  }
  std::filesystem::remove_all(folder);
  LocalServer server = without_folder();
  const Reply reply = ask(server, "audit.verify", {{"bundle", bundle}});
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("\"ok\": true"));
}

// A truncated file reads as a new database; what the checkpoint vouches for would seem never to
// have been.
TEST(LocalServer, AnEmptyDatabaseBesideACheckpointIsDamageAndNoEmptyRegistry) {
  for (const bool removed : {false, true}) {
    std::string pattern = testing::TempDir() + "exa-local-XXXXXX";
    const std::filesystem::path folder = ::mkdtemp(pattern.data());
    {
      LocalServer server(folder, noon(), seconds(1));
      ASSERT_LT(ask(server, "project.create", {{"name", "vision"}}).status, 400);
    }
    for (const char* journal : {"exa.db-wal", "exa.db-shm"})
      std::filesystem::remove(folder / journal);
    if (removed)
      std::filesystem::remove(folder / "exa.db");
    else
      std::filesystem::resize_file(folder / "exa.db", 0);
    for (const char* route : {"project.list", "audit.verify", "hardware_profile.list"}) {
      LocalServer server(folder, noon(), seconds(1));
      const Reply reply = ask(server, route, {});
      EXPECT_EQ(reply.exit_code, info(Code::store_damaged).exit_code) << route << reply.body;
      EXPECT_THAT(reply.body, HasSubstr("but its audit checkpoint is there"));
    }
    std::filesystem::remove_all(folder);
  }
}

TEST(LocalServer, WhatNeedsTheStoreSaysThatThereIsNoFolder) {
  LocalServer server = without_folder();
  for (const char* route : {"hardware_profile.list", "audit.list", "cluster.list"}) {
    const Reply reply = ask(server, route, {});
    EXPECT_EQ(reply.exit_code, info(Code::usage).exit_code);
    EXPECT_THAT(reply.body, HasSubstr("neither EXA_HOME nor HOME is set"));
  }
  EXPECT_THAT(ask(server, "project.create", {{"name", "vision"}}).body,
              HasSubstr("neither EXA_HOME nor HOME is set"));
}

}  // namespace
}  // namespace exa
