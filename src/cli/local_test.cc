#include "cli/local.h"

#include <cstdlib>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/route.h"
#include "base/json.h"
#include "cli/connect.h"

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
  return LocalServer(home_of({}, nothing), noon());
}

TEST(LocalServer, ABundleIsVerifiedWithoutADataFolder) {
  std::string pattern = testing::TempDir() + "exa-local-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  std::string bundle;
  {
    LocalServer server(Home{.folder = folder, .server = ""}, noon());
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
      LocalServer server(Home{.folder = folder, .server = ""}, noon());
      ASSERT_LT(ask(server, "project.create", {{"name", "vision"}}).status, 400);
    }
    for (const char* journal : {"exa.db-wal", "exa.db-shm"})
      std::filesystem::remove(folder / journal);
    if (removed)
      std::filesystem::remove(folder / "exa.db");
    else
      std::filesystem::resize_file(folder / "exa.db", 0);
    for (const char* route : {"project.list", "audit.verify", "hardware_profile.list"}) {
      LocalServer server(Home{.folder = folder, .server = ""}, noon());
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

TEST(LocalServer, AListOfAPlaceWhereNothingCanBeKeptIsAnErrorAndNotEmpty) {
  std::string pattern = testing::TempDir() + "exa-local-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  std::ofstream(folder / "file") << "somebody's";
  struct Place {
    std::filesystem::path home;
    const char* why;
  };
  const Place places[] = {{folder / "file", "is not a folder"},
                          {folder / "file" / "below", "file is not a folder"},
                          {"/proc", "/proc keeps no files"},
                          {"/proc/no/such", "none can be made: /proc keeps no files"},
                          {"/sys/no-such", "/sys keeps no files"}};
  for (const Place& place : places) {
    for (const char* route : {"workbench.list", "pipeline.list", "serving.list", "cluster.list",
                              "hardware_profile.list", "project.list"}) {
      LocalServer server(Home{.folder = place.home, .server = ""}, noon());
      const Reply reply = ask(server, route, {});
      EXPECT_EQ(reply.exit_code, info(Code::store_unwritable).exit_code) << place.home << route;
      EXPECT_THAT(reply.body, HasSubstr(place.why));
    }
  }
  LocalServer server(Home{.folder = folder / "not" / "yet", .server = ""}, noon());
  EXPECT_EQ(ask(server, "workbench.list", {}).status, 200);
  EXPECT_FALSE(std::filesystem::exists(folder / "not")) << "looking makes nothing";
  std::filesystem::remove_all(folder);
}

struct Named {
  Where where;
  std::map<std::string, std::string> variables;
  std::string folder;
  std::string server;
};

Result<Home> home_of(const Named& named) {
  return home_of(named.where, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = named.variables.find(name);
    return found == named.variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Home, WhatWasTypedStandsAboveWhatIsSetAndAStoreAboveAFolder) {
  const std::string db = "postgresql://exa@db/exa";
  const Named rows[] = {
      {{}, {{"HOME", "/h"}}, "/h/.local/share/exa", ""},
      {{}, {{"HOME", "/h"}, {"EXA_HOME", "/e"}}, "/e", ""},
      {{}, {{"EXA_HOME", "/e"}, {"EXA_STORE", "sqlite:/s"}}, "/s", ""},
      {{}, {{"EXA_HOME", "/e"}, {"EXA_STORE", db}}, "/e", db},
      {{"/d", "", ""}, {{"EXA_HOME", "/e"}, {"EXA_STORE", "sqlite:/s"}}, "/d", ""},
      {{"/d", "", ""}, {{"EXA_HOME", "/e"}, {"EXA_STORE", db}}, "/d", db},
      {{"", "sqlite:/f", ""}, {{"EXA_HOME", "/e"}, {"EXA_STORE", db}}, "/f", ""},
      {{"", "f/g", ""}, {{"EXA_HOME", "/e"}}, "f/g", ""},
      {{"/d", db, ""}, {{"EXA_STORE", "sqlite:/s"}}, "/d", db},
      {{"/f/", "sqlite:/f", ""}, {}, "/f", ""},
  };
  for (const Named& row : rows) {
    const auto home = home_of(row);
    ASSERT_TRUE(home) << home.error().message;
    EXPECT_EQ(home->folder, row.folder);
    EXPECT_EQ(home->server, row.server);
  }
}

TEST(Home, AStoreOfAnotherKindIsNoFolder) {
  for (const char* name : {"mysql://db/exa", "postgresq://db/exa", "postgresql:/db",
                           "sqlite:", "sqlite://x", "http://x", "file:x"}) {
    const auto typed = home_of({{"", name, ""}, {{"HOME", "/h"}}, "", ""});
    ASSERT_FALSE(typed) << name;
    EXPECT_THAT(typed.error().message, HasSubstr("sqlite:FOLDER"));
    EXPECT_FALSE(home_of({{"/d", "", ""}, {{"EXA_STORE", name}}, "", ""})) << name;
  }
}

TEST(Home, TwoFoldersAreAContradiction) {
  const auto home = home_of({{"/d", "sqlite:/f", ""}, {}, "", ""});
  ASSERT_FALSE(home);
  EXPECT_THAT(home.error().message, HasSubstr("two folders"));
}

// What listens in the data folder works on another store than the one that is named.
TEST(Connector, WhoNamesADatabaseServerIsNotAnsweredByTheServerOfTheDataFolder) {
  std::string pattern = testing::TempDir() + "exa-local-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_in(folder).string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  Environment environment;
  environment.clock = noon();
  environment.variable = [&](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "EXA_HOME") return folder.string();
    return std::nullopt;
  };
  Connector connector(environment);
  const auto send = connector({"", "postgresql://ada@127.0.0.1:1/exa", ""});
  ASSERT_TRUE(send);
  const Reply reply = (*send)(build_request(*find_route("project.list"), {}));
  EXPECT_EQ(reply.exit_code, info(Code::store_unreachable).exit_code) << reply.body;
  ::close(listener);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace exa
