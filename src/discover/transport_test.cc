#include "discover/transport.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/text.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "exa_transport_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
  }
  std::string at(const std::string& name) const { return path / name; }

  std::filesystem::path path;
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LocalTransport, RunsArgumentVectors) {
  const auto local = local_transport(seconds(20));
  EXPECT_EQ(local->run({"printf", "%s|", "$HOME", "a b"})->out, "$HOME|a b|");
  EXPECT_EQ(local->run({"no-such-program-exa"}).error().code, Code::not_found);
  EXPECT_EQ(local->describe(), "local");
}

TEST(LocalTransport, ReadsFilesWhoseSizeSaysNothing) {
  const auto text = local_transport(seconds(20))->read_file("/proc/self/status");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("Pid:"));
}

TEST(LocalTransport, TellsAbsentFromUnreadable) {
  const Folder folder;
  const auto local = local_transport(seconds(20));
  EXPECT_EQ(local->read_file(folder.at("none")).error().code, Code::not_found);
  EXPECT_EQ(local->read_file(folder.at("none/below")).error().code, Code::not_found);
  EXPECT_EQ(local->read_file(folder.path).error().code, Code::probe_failed);
  EXPECT_EQ(local->list_folder(folder.at("none")).error().code, Code::not_found);
}

TEST(LocalTransport, APipeWithoutAWriterDoesNotHoldItUp) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(local_transport(seconds(20))->read_file(folder.at("pipe")).value_or("?"), "");
}

TEST(LocalTransport, ListsNamesSorted) {
  const Folder folder;
  for (const char* name : {"b", "a", ".c", "B"}) folder.write(name, "");
  EXPECT_THAT(*local_transport(seconds(20))->list_folder(folder.path),
              ElementsAre(".c", "B", "a", "b"));
}

TEST(SshDestination, IsAHostOrAUserAtAHost) {
  for (const char* good : {"login", "login.example.org", "ops@login", "a.b-c_d@10.0.0.1",
                           "user@::1", "fe80::1%eth0", "jane@corp.example@login"})
    EXPECT_TRUE(check_ssh_destination(good)) << good;
  for (const char* bad :
       {"", "-oProxyCommand=id", "user@-oProxyCommand=id", "-l@host", "a b", "a\tb", "a\nb",
        "host;id", "$(id)", "`id`", "a'b", "@host", "user@", "ssh://host", "h\xc3\xb6st"}) {
    const auto checked = check_ssh_destination(bad);
    ASSERT_FALSE(checked) << bad;
    EXPECT_EQ(checked.error().code, Code::invalid_input);
  }
}

// A program `ssh` first on the PATH that notes its arguments and, like sshd, gives the last one to
// a shell.
class SshTransport : public testing::Test {
 protected:
  void SetUp() override {
    install(
        "#!/bin/sh\nprintf '%s\\0' \"$@\" >> \"$0.log\"\nfor line; do :; done\nexec sh -c "
        "\"$line\"\n");
  }
  void TearDown() override { ::setenv("PATH", path_before_.c_str(), 1); }

  void install(const std::string& script) {
    folder_.write("ssh", script);
    std::filesystem::permissions(folder_.at("ssh"), std::filesystem::perms::owner_all);
    ::setenv("PATH", (folder_.path.string() + ":" + path_before_).c_str(), 1);
  }
  std::vector<std::string> noted() const {
    const std::string log = content(folder_.at("ssh.log"));
    std::vector<std::string> words;
    for (std::string_view word : split(log, '\0')) words.emplace_back(word);
    words.pop_back();
    return words;
  }

  const std::string path_before_ = std::getenv("PATH");
  const Folder folder_;
};

TEST_F(SshTransport, AsksNoQuestionsAndEndsItsOptionsBeforeTheDestination) {
  ASSERT_TRUE(ssh_transport({"ops@login", 0, ""}, seconds(30))->run({"true"}));
  EXPECT_THAT(noted(), ElementsAre("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=30", "--",
                                   "ops@login", "true"));
}

TEST_F(SshTransport, PassesPortAndIdentity) {
  const auto transport = ssh_transport({"login", 2222, "/keys/my key"}, seconds(20));
  ASSERT_TRUE(transport->run({"true"}));
  EXPECT_THAT(noted(), ElementsAre("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-p",
                                   "2222", "-i", "/keys/my key", "--", "login", "true"));
  EXPECT_EQ(transport->describe(), "ssh login:2222");
}

TEST_F(SshTransport, WordsArriveAsTheyAre) {
  const auto finished =
      ssh_transport({"login", 0, ""}, seconds(20))
          ->run({"printf", "%s|", "$HOME", "a b", "", "it's", "`id`;*", "%N|%P\n"});
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out, "$HOME|a b||it's|`id`;*|%N|%P\n|");
}

TEST_F(SshTransport, ABadDestinationIsRefusedBeforeAnythingRuns) {
  const auto finished = ssh_transport({"-oProxyCommand=id", 0, ""}, seconds(20))->run({"true"});
  EXPECT_EQ(finished.error().code, Code::invalid_input);
  EXPECT_FALSE(std::filesystem::exists(folder_.at("ssh.log")));
}

TEST_F(SshTransport, AMissingProgramThereIsNotFound) {
  const auto finished = ssh_transport({"login", 0, ""}, seconds(20))->run({"no-such-program-exa"});
  EXPECT_EQ(finished.error().code, Code::not_found);
  EXPECT_THAT(finished.error().message, HasSubstr("no program no-such-program-exa on login"));
}

TEST_F(SshTransport, OtherExitCodesAreThePrograms) {
  const auto finished =
      ssh_transport({"login", 0, ""}, seconds(20))->run({"sh", "-c", "echo lost; exit 15"});
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->exit_code, 15);
  EXPECT_EQ(finished->out, "lost\n");
}

TEST_F(SshTransport, AnUnreachableMachineIsAFailedProbeInSshsWords) {
  install(
      "#!/bin/sh\necho 'banner' >&2\necho 'ssh: connect to host login port 22: Connection refused' "
      ">&2\nexit 255\n");
  const auto finished = ssh_transport({"login", 0, ""}, seconds(20))->run({"true"});
  EXPECT_EQ(finished.error().code, Code::probe_failed);
  EXPECT_THAT(
      finished.error().message,
      HasSubstr(
          "cannot reach login by ssh: ssh: connect to host login port 22: Connection refused"));
}

TEST_F(SshTransport, HalfAnAnswerOfALostConnectionIsNoAnswer) {
  install("#!/bin/sh\necho 'NodeName=a'\nexit 255\n");
  EXPECT_EQ(ssh_transport({"login", 0, ""}, seconds(20))->run({"true"}).error().code,
            Code::probe_failed);
}

TEST_F(SshTransport, AMachineThatDoesNotAnswerIsAFailedProbe) {
  install("#!/bin/sh\nsleep 60\n");
  const auto finished = ssh_transport({"login", 0, ""}, Duration{300'000})->run({"true"});
  EXPECT_EQ(finished.error().code, Code::probe_failed);
}

TEST_F(SshTransport, WithoutSshOnThisMachineNothingIsReached) {
  ::setenv("PATH", "/nowhere", 1);
  const auto finished = ssh_transport({"login", 0, ""}, seconds(20))->run({"true"});
  EXPECT_EQ(finished.error().code, Code::probe_failed);
  EXPECT_THAT(finished.error().message, HasSubstr("no program ssh"));
}

TEST_F(SshTransport, ReadsFilesAndFoldersThere) {
  const Folder there;
  const std::string bytes("a\0b\xff\n", 5);
  there.write("it's", bytes);
  there.write(".hidden", "");
  const auto transport = ssh_transport({"login", 0, ""}, seconds(20));
  EXPECT_EQ(transport->read_file(there.at("it's")).value_or("?"), bytes);
  EXPECT_THAT(*transport->list_folder(there.path), ElementsAre(".hidden", "it's"));
  EXPECT_EQ(transport->read_file(there.at("none")).error().code, Code::not_found);
  EXPECT_EQ(transport->list_folder(there.at("none")).error().code, Code::not_found);
  EXPECT_EQ(transport->read_file(there.path).error().code, Code::probe_failed);
}

TEST_F(SshTransport, AFolderThatIsALinkIsListed) {
  const Folder there;
  std::filesystem::create_directory(there.path / "real");
  there.write("real/x", "");
  std::filesystem::create_directory_symlink(there.path / "real", there.path / "link");
  EXPECT_THAT(*ssh_transport({"login", 0, ""}, seconds(20))->list_folder(there.at("link")),
              ElementsAre("x"));
}

}  // namespace
}  // namespace exa
