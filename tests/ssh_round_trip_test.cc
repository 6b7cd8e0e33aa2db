// Against a real OpenSSH server; tests/with_sshd starts it and says where it is.
#include <cstdlib>
#include <random>

#include <gmock/gmock.h>

#include "discover/transport.h"

namespace exa {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class RealSsh : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(address_.destination, "") << "run this by tests/with_sshd"; }

  const SshAddress address_ = {variable("EXA_SSH_DESTINATION"),
                               std::atoi(variable("EXA_SSH_PORT").c_str()),
                               variable("EXA_SSH_IDENTITY")};
  const std::unique_ptr<Transport> transport_ = ssh_transport(address_, seconds(20));
};

TEST_F(RealSsh, AnyBytesArriveAsTheyAreAndComeBack) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::vector<std::string> argv = {"/usr/bin/env", "printf", "%s\\0"};
  std::string expected;
  for (int i = 0; i < 500; ++i) {
    std::string word(random() % 24, ' ');
    for (char& c : word) c = static_cast<char>(1 + random() % 255);
    argv.push_back(word);
    expected += word + '\0';
  }
  const auto finished = transport_->run(argv);
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(finished->exit_code, 0) << finished->err;
  EXPECT_EQ(finished->out, expected);
}

TEST_F(RealSsh, ExitCodesAndStreamsAreThePrograms) {
  const auto finished = transport_->run({"sh", "-c", "echo out; echo err >&2; exit 9"});
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(finished->exit_code, 9);
  EXPECT_EQ(finished->out, "out\n");
  EXPECT_EQ(finished->err, "err\n");
}

TEST_F(RealSsh, ReadsFilesAndFolders) {
  EXPECT_THAT(transport_->read_file("/proc/meminfo").value_or("?"), HasSubstr("MemTotal:"));
  EXPECT_THAT(transport_->list_folder("/proc/self").value_or(std::vector<std::string>()),
              Contains("status"));
  EXPECT_EQ(transport_->read_file("/no/such/file").error().code, Code::not_found);
  EXPECT_EQ(transport_->list_folder("/no/such/folder").error().code, Code::not_found);
}

TEST_F(RealSsh, AMissingProgramIsNotFound) {
  EXPECT_EQ(transport_->run({"no-such-program-exa"}).error().code, Code::not_found);
}

TEST_F(RealSsh, AWrongKeyFailsWithoutAQuestion) {
  SshAddress without_key = address_;
  without_key.identity_file = "/dev/null";
  const auto finished = ssh_transport(without_key, seconds(20))->run({"true"});
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, Code::probe_failed);
  EXPECT_THAT(finished.error().message, HasSubstr("Permission denied"));
}

TEST_F(RealSsh, AClosedPortIsAFailedProbe) {
  SshAddress closed = address_;
  closed.port = 1;
  const auto finished = ssh_transport(closed, seconds(20))->run({"true"});
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, Code::probe_failed);
  EXPECT_THAT(finished.error().message, HasSubstr("refused"));
}

}  // namespace
}  // namespace exa
