#include <gmock/gmock.h>

#include "base/text.h"
#include "discover/readers.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <char kFirst>
std::optional<std::string> begins_with(std::string_view text) {
  if (trim(text).starts_with(kFirst)) return std::string("show ") + kFirst;
  return std::nullopt;
}

std::optional<std::string> any_text(std::string_view) {
  return "any";
}

Result<Inventory> nothing(const Capture&) {
  return Inventory();
}

constexpr Reader kReaders[] = {
    {ClusterKind::slurm, nothing, begins_with<'S'>, "S files"},
    {ClusterKind::flux, nothing, begins_with<'F'>, "F files"},
};
constexpr Reader kGreedy[] = {
    {ClusterKind::slurm, nothing, begins_with<'S'>, "S files"},
    {ClusterKind::host, nothing, any_text, "any file"},
};
constexpr Time kNow{1'000'000};

Result<Capture> open_file(std::string_view text, std::optional<ClusterKind> kind = {}) {
  return capture_from_file(text, "saved", kind, kNow, kReaders);
}

std::string saved(ClusterKind kind) {
  Capture capture;
  capture.kind = kind;
  capture.taken_at = Time{5'000'000};
  capture.transport = "local";
  capture.outputs.push_back({"show F", {"show", "F"}, 0, "F...", ""});
  return to_pretty_text(to_json(capture));
}

TEST(SavedFile, RawOutputBecomesACaptureOfOneAnswer) {
  const auto capture = open_file("Some output\n");
  ASSERT_TRUE(capture) << capture.error().message;
  EXPECT_EQ(capture->kind, ClusterKind::slurm);
  EXPECT_EQ(capture->taken_at, kNow);
  EXPECT_EQ(capture->transport, "file");
  EXPECT_THAT(capture->outputs, ElementsAre(CapturedOutput{"show S", {}, 0, "Some output\n", ""}));
}

TEST(SavedFile, ASavedCaptureKeepsItsTimeAndOrigin) {
  for (const std::string& text : {saved(ClusterKind::flux), "\n\n  " + saved(ClusterKind::flux)}) {
    const auto capture = open_file(text);
    ASSERT_TRUE(capture) << capture.error().message;
    EXPECT_EQ(capture->kind, ClusterKind::flux);
    EXPECT_EQ(capture->taken_at, Time{5'000'000});
    EXPECT_EQ(capture->transport, "local");
  }
}

TEST(SavedFile, AnotherKindThanAskedForIsNamed) {
  for (const std::string& text : {std::string("Fleet"), saved(ClusterKind::flux)}) {
    const auto capture = open_file(text, ClusterKind::slurm);
    ASSERT_FALSE(capture);
    EXPECT_EQ(capture.error().code, Code::invalid_input);
    EXPECT_THAT(capture.error().message, HasSubstr("its kind is flux, not slurm"));
    EXPECT_EQ(capture.error().next, "exa cluster add NAME --kind flux");
    EXPECT_TRUE(open_file(text, ClusterKind::flux));
  }
}

TEST(SavedFile, AnUnknownFileIsNamedWithWhatItCouldBe) {
  const auto capture = open_file("unknown");
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, Code::unreadable_output);
  EXPECT_THAT(capture.error().message, HasSubstr("\"saved\""));
  EXPECT_THAT(capture.error().alternatives,
              ElementsAre("a file of exa cluster capture", "slurm: S files", "flux: F files"));
  EXPECT_THAT(open_file("unknown", ClusterKind::flux).error().alternatives,
              ElementsAre("a file of exa cluster capture", "flux: F files"));
}

TEST(SavedFile, AnEmptyFileIsUnreadable) {
  for (const char* text : {"", "\n \t\n"}) {
    const auto capture = open_file(text);
    ASSERT_FALSE(capture);
    EXPECT_EQ(capture.error().code, Code::unreadable_output);
    EXPECT_THAT(capture.error().message, HasSubstr("is empty"));
  }
}

TEST(SavedFile, WhatTwoReadersKnowNeedsAKind) {
  const auto both = capture_from_file("S", "saved", {}, kNow, kGreedy);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, Code::unreadable_output);
  EXPECT_THAT(both.error().alternatives, ElementsAre("slurm: show S", "host: any"));
  for (ClusterKind kind : {ClusterKind::slurm, ClusterKind::host})
    EXPECT_EQ(capture_from_file("S", "saved", kind, kNow, kGreedy)->kind, kind);
}

TEST(SavedFile, ADamagedCaptureSaysWhereAndIsNotTakenForRawOutput) {
  std::string text = saved(ClusterKind::flux);
  text.replace(text.find("\"argv\""), 6, "\"args\"");
  const auto capture = capture_from_file(text, "saved", {}, kNow, kGreedy);
  ASSERT_FALSE(capture);
  EXPECT_THAT(capture.error().message, HasSubstr("saved"));
  EXPECT_EQ(capture.error().problems.size(), 2u);
  text.resize(text.size() / 2);
  EXPECT_FALSE(capture_from_file(text, "saved", {}, kNow, kGreedy));
}

TEST(SavedFile, TheNameOfTheFileCannotMoveTheCursor) {
  const auto capture = capture_from_file("unknown", "a\x1b[2J", {}, kNow, kReaders);
  EXPECT_EQ(capture.error().message.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace exa
