#include "provision/run_log.h"

#include <random>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/text.h"
#include "provision/provision_bench_for_test.h"

namespace exa {
namespace {

class RunLogs : public ProvisionBench {
 protected:
  std::filesystem::path file() const { return folder / "log"; }
  std::unique_ptr<RunLog> log(int64_t limit, const std::vector<std::string>& secrets = {}) const {
    return std::make_unique<RunLog>(
        ::open(file().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), limit, secrets,
        [](std::string_view) {});
  }
};

TEST_F(RunLogs, TheFileIsWhatIsKeptAndWithinItsLimitAtEveryMoment) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    constexpr int64_t kLimit = 8192;
    const auto log = this->log(kLimit);
    int64_t given = 0;
    for (int i = 0; i < 100; ++i) {
      std::string bytes;
      for (size_t n = random() % 2000; n > 0; --n)
        bytes += random() % 40 == 0 ? '\n' : static_cast<char>('a' + random() % 26);
      given += static_cast<int64_t>(bytes.size());
      log->add(bytes);
      ASSERT_EQ(text_of(file()), log->text());
      ASSERT_LE(log->text().size(), kLimit * 2);
    }
    log->finish();
    const std::string text = log->text();
    EXPECT_EQ(text_of(file()), text);
    EXPECT_LE(text.size(), kLimit + 100);
    EXPECT_TRUE(text.ends_with('\n'));
    const size_t note = text.find("… ");
    const size_t note_size = fmt::format("… {} bytes cut …\n", log->cut_bytes()).size();
    ASSERT_NE(note, std::string::npos);
    // nothing is lost but what is said to be, and a last line may have got its end
    const auto known = static_cast<int64_t>(text.size() - note_size) + log->cut_bytes();
    EXPECT_LE(known - given, 1);
    EXPECT_GE(known, given);
  }
}

TEST_F(RunLogs, ASecretThatIsCutWithItsLineIsHiddenToo) {
  const std::string secret(400, 's');
  for (size_t before = 100; before < 520; before += 7) {
    const auto log = this->log(4096, {secret});
    log->add(std::string(before, '.') + secret + std::string(100, '.') + "\n");
    log->finish();
    EXPECT_EQ(log->text().find("ssss"), std::string::npos) << before;
    EXPECT_NE(log->text().find("…"), std::string::npos) << before;
  }
}

TEST_F(RunLogs, BytesThatAreNoTextAreShownAndKeepTheLimit) {
  const auto log = this->log(4096);
  for (int i = 0; i < 1000; ++i) log->add(std::string(400, '\xff') + "\n");
  log->finish();
  EXPECT_TRUE(is_valid_utf8(log->text()));
  EXPECT_TRUE(log->text().starts_with("\\xff\\xff"));
  EXPECT_LE(log->text().size(), 4200u);
  EXPECT_EQ(text_of(file()), log->text());
}

}  // namespace
}  // namespace exa
