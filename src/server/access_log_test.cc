#include "server/access_log.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

namespace fs = std::filesystem;

size_t lines_in(const fs::path& folder) {
  size_t lines = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) ++lines;
  }
  return lines;
}

TEST(AccessLog, NoLineIsLostWhileTheFileIsOpenedAnew) {
  std::string pattern = testing::TempDir() + "exa-log-XXXXXX";
  const fs::path folder = ::mkdtemp(pattern.data());
  const fs::path file = folder / "access.jsonl";
  constexpr int kThreads = 4;
  constexpr int kLines = 500;  // fewer in all than may wait
  {
    const auto log = AccessLog::open(file.string()).value();
    std::vector<std::thread> writers;
    for (int i = 0; i < kThreads; ++i) {
      writers.emplace_back([&] {
        for (int line = 0; line < kLines; ++line) log->request(Time{}, {.method = "GET"});
      });
    }
    for (int rotation = 0; rotation < 50; ++rotation) {
      fs::rename(file, folder / fmt::format("access.{}", rotation));
      EXPECT_TRUE(log->reopen());
    }
    for (std::thread& writer : writers) writer.join();
  }
  EXPECT_EQ(lines_in(folder), size_t{kThreads} * kLines);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace exa
