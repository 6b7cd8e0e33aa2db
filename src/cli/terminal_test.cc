#include "cli/terminal.h"

#include <array>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "api/route.h"

namespace exa {
namespace {

using testing::HasSubstr;

Result<std::string> content_of(const std::string& path, size_t most = 1000) {
  return terminal_environment().read_file(path, most);
}

TEST(Files, ADeviceThatNeverEndsIsRefusedInWordsAndNotRead) {
  for (const char* device : {"/dev/zero", "/dev/urandom"}) {
    const auto read = content_of(device, kLargestCapture);
    ASSERT_FALSE(read) << device;
    EXPECT_THAT(read.error().message,
                HasSubstr(fmt::format("{} is a device, which has no end", device)));
  }
  EXPECT_EQ(content_of("/dev/null"), "");
}

// Process substitution: <(program) is the reading end of a pipe, by the name of its descriptor.
TEST(Files, APipeIsReadToItsEndAndNoFurtherThanItsBound) {
  for (const bool fits : {true, false}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const std::string text(fits ? 1000 : 1001, 'x');
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    // the one that is too long is never ended
    if (fits) ::close(ends[1]);
    const auto read = content_of(fmt::format("/dev/fd/{}", ends[0]));
    EXPECT_EQ(read.has_value(), fits);
    if (fits)
      EXPECT_EQ(*read, text);
    else
      EXPECT_THAT(read.error().message, HasSubstr("is longer than 1000 bytes"));
    if (!fits) ::close(ends[1]);
    ::close(ends[0]);
  }
}

// What no reader takes more of is not read further; what tools print may be long.
TEST(Files, AManifestIsBoundedAsItsReaderIsAndACaptureIsLonger) {
  const auto most = [](std::string_view route, std::string_view param) {
    for (const Param& row : find_route(route)->params)
      if (row.name == param) return row.most_bytes;
    return size_t{0};
  };
  constexpr size_t kMiB = size_t{1} << 20;
  EXPECT_EQ(most("hardware_profile.import", "file"), kMiB);
  EXPECT_EQ(most("hardware_profile.render", "over"), kMiB);
  EXPECT_EQ(most("serving.deploy", "file"), kMiB);
  EXPECT_EQ(most("cluster.discover", "from"), kLargestCapture);
  EXPECT_EQ(most("hardware_profile.resolve", "snapshot"), kLargestCapture);
  EXPECT_EQ(most("audit.verify", "bundle"), kLargestCapture);
}

}  // namespace
}  // namespace exa
