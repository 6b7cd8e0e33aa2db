#include "store/lock_file.h"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class LockFileTest : public testing::Test {
 protected:
  LockFileTest() {
    std::string pattern = testing::TempDir() + "exa-lock-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~LockFileTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path path() const { return folder_ / "exa.lock"; }
  std::string message_while_held() const {
    const auto second = LockFile::acquire(path(), Duration{1000});
    EXPECT_FALSE(second);
    return second ? "" : second.error().message;
  }
  void write_pid(pid_t pid) const {
    std::fstream(path(), std::ios::in | std::ios::out) << fmt::format("{:<11}\n", pid);
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(LockFileTest, TheHolderIsNamedWithoutStrayBlanks) {
  const auto first = LockFile::acquire(path(), Duration{1000});
  ASSERT_TRUE(first);
  EXPECT_THAT(message_while_held(),
              StartsWith(fmt::format("process {} has been writing to ", ::getpid())));
}

TEST_F(LockFileTest, AProcessThatEndedIsNotNamed) {
  const auto first = LockFile::acquire(path(), Duration{1000});
  ASSERT_TRUE(first);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  write_pid(child);
  EXPECT_THAT(message_while_held(), StartsWith("another process has been writing to "));
  EXPECT_THAT(message_while_held(), Not(HasSubstr(std::to_string(child) + " ")));
}

}  // namespace
}  // namespace exa
