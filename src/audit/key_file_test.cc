#include "audit/key_file.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/sample_log.h"

namespace exa {
namespace {

namespace fs = std::filesystem;
using exa::testing::sample_key;
using ::testing::HasSubstr;

class KeyFile : public ::testing::Test {
 protected:
  KeyFile() {
    std::string pattern = (fs::temp_directory_path() / "exa-audit-XXXXXX").string();
    EXA_ASSERT(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~KeyFile() override { fs::remove_all(folder_); }

  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }
  mode_t mode(const std::string& file) const {
    struct stat status {};
    EXA_ASSERT(::stat(file.c_str(), &status) == 0);
    return status.st_mode & 07777;
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  void write(const std::string& file, std::string_view text) const { std::ofstream(file) << text; }

  std::string folder_;
};

TEST_F(KeyFile, ReadsBackAndIsForItsOwnerOnly) {
  ASSERT_TRUE(create_key_file(path("key"), sample_key()));
  EXPECT_EQ(mode(path("key")), 0600);
  const auto key = load_key_file(path("key"));
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(key->public_key(), sample_key().public_key());
  EXPECT_EQ(files(), 1);  // no draft left behind
}

TEST_F(KeyFile, AKeyIsNeverReplaced) {
  ASSERT_TRUE(create_key_file(path("key"), sample_key(1)));
  const auto again = create_key_file(path("key"), sample_key(2));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::conflict);
  EXPECT_EQ(load_key_file(path("key"))->public_key(), sample_key(1).public_key());
  EXPECT_EQ(files(), 1);
}

TEST_F(KeyFile, AKeyThatOthersMayReadIsRefused) {
  ASSERT_TRUE(create_key_file(path("key"), sample_key()));
  for (const mode_t open_mode : {0640, 0604, 0620, 0602, 0610, 0644, 0666, 0777}) {
    ASSERT_EQ(::chmod(path("key").c_str(), open_mode), 0);
    const auto key = load_key_file(path("key"));
    ASSERT_FALSE(key) << open_mode;
    EXPECT_EQ(key.error().code, Code::store_damaged);
    EXPECT_THAT(key.error().message, HasSubstr("may be read by others"));
    EXPECT_THAT(key.error().next, HasSubstr("chmod 600"));
  }
  ASSERT_EQ(::chmod(path("key").c_str(), 0400), 0);
  EXPECT_TRUE(load_key_file(path("key")));
}

TEST_F(KeyFile, AMissingKeyIsSaidToBeMissing) {
  EXPECT_EQ(load_key_file(path("none")).error().code, Code::not_found);
}

TEST_F(KeyFile, AnythingButARegularFileIsRefused) {
  ASSERT_TRUE(create_key_file(path("key"), sample_key()));
  fs::create_symlink(path("key"), path("link"));
  fs::create_directory(path("folder"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string_view name : {"link", "folder", "pipe"}) {
    EXPECT_EQ(load_key_file(path(name)).error().code, Code::store_damaged) << name;
  }
}

TEST_F(KeyFile, ADamagedKeyIsRefusedWithoutBeingQuoted) {
  const SecretText secret = sample_key().secret_text();
  const std::string text(secret.reveal());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write(path("damaged"), damaged);
    ASSERT_EQ(::chmod(path("damaged").c_str(), 0600), 0);
    const auto key = load_key_file(path("damaged"));
    ASSERT_FALSE(key) << i;
    EXPECT_EQ(key.error().code, Code::store_damaged);
    EXPECT_THAT(key.error().message, ::testing::Not(HasSubstr("PRIVATE")));
  }
}

TEST_F(KeyFile, AFileThatIsTooLongIsRefused) {
  write(path("long"), std::string(70'000, 'x'));
  EXPECT_EQ(read_checkpoint_file(path("long")).error().code, Code::store_damaged);
}

TEST_F(KeyFile, ThePublicHalfMayBeReadByAll) {
  ASSERT_TRUE(write_public_key_file(path("key.pub"), sample_key().public_key()));
  EXPECT_EQ(mode(path("key.pub")), 0644);
  EXPECT_EQ(read_public_key_file(path("key.pub")), sample_key().public_key());
}

TEST_F(KeyFile, ACheckpointReplacesTheOneBefore) {
  for (const std::string_view text : {"first\n", "second\n"}) {
    ASSERT_TRUE(write_checkpoint_file(path("checkpoint"), text));
    EXPECT_EQ(read_checkpoint_file(path("checkpoint")), std::string(text));
  }
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(mode(path("checkpoint")), 0644);
}

TEST_F(KeyFile, DraftsOfAKilledProcessAreRemovedAndNothingElse) {
  write(path("checkpoint.draft.a1B2c3"), "half");
  write(path("checkpoint.backup"), "kept");
  write(path("audit.pub.draft.a1B2c3"), "another file's");
  ASSERT_TRUE(write_checkpoint_file(path("checkpoint"), "text\n"));
  EXPECT_FALSE(fs::exists(path("checkpoint.draft.a1B2c3")));
  EXPECT_TRUE(fs::exists(path("checkpoint.backup")));
  EXPECT_EQ(files(), 3);
}

TEST_F(KeyFile, AFailedWriteLeavesTheOldFileAlone) {
  ASSERT_TRUE(write_checkpoint_file(path("checkpoint"), "kept\n"));
  const std::string inside = path("checkpoint") + "/below-a-file";
  EXPECT_EQ(write_checkpoint_file(inside, "x").error().code, Code::store_unwritable);
  EXPECT_EQ(write_checkpoint_file(path("no/such/folder"), "x").error().code,
            Code::store_unwritable);
  fs::create_directory(path("taken"));
  EXPECT_EQ(write_checkpoint_file(path("taken"), "x").error().code, Code::store_unwritable);
  EXPECT_EQ(read_checkpoint_file(path("checkpoint")), "kept\n");
  EXPECT_EQ(files(), 2);
}

}  // namespace
}  // namespace exa
