#include "audit/bundle.h"

#include <cstdlib>
#include <random>

#include <gmock/gmock.h>

#include "audit/sample_log.h"
#include "base/text.h"

namespace exa {
namespace {

using namespace exa::testing;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text.substr(0, text.size() - 1), '\n'))
    lines.emplace_back(line);
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  return join(lines, "\n") + "\n";
}

// The checkpoint lines of the sample stand after 7, 14 and 20 entries.
constexpr size_t kFirstCheckpointLine = 8, kSecondCheckpointLine = 16, kThirdCheckpointLine = 23;

TEST(Bundle, VerifiesWithNothingElse) {
  const Verdict verdict = verify_bundle(bundle_of(sample_log()));
  EXPECT_TRUE(verdict.ok) << verdict.sentence;
  EXPECT_EQ(verdict.size, 20);
  EXPECT_EQ(verdict.checkpoint_size, 20);
  EXPECT_EQ(verdict.key, to_text(sample_key().public_key()));
  EXPECT_THAT(verdict.sentence, ::testing::HasSubstr("the key is the bundle's own"));
}

TEST(Bundle, VerifiesAgainstTheKeyAndCheckpointsOfTheReader) {
  const SampleLog log = sample_log();
  const Verdict verdict = verify_bundle(bundle_of(log), {log.key, log.checkpoints});
  EXPECT_TRUE(verdict.ok) << verdict.sentence;
  EXPECT_THAT(verdict.sentence, ::testing::Not(::testing::HasSubstr("own")));
}

TEST(Bundle, HoldsTheLeavesVerbatim) {
  const SampleLog log = sample_log();
  const std::vector<std::string> lines = lines_of(bundle_of(log));
  ASSERT_EQ(lines.size(), 24);
  EXPECT_EQ(lines[0], R"({"exa_audit_bundle":1,"key":")" + to_text(log.key) + R"("})");
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(lines[1 + i], log.rows[i].text);
  EXPECT_EQ(lines[kFirstCheckpointLine], to_text(json::value(log.checkpoints[0])));
  EXPECT_EQ(lines[kThirdCheckpointLine], to_text(json::value(log.checkpoints[2])));
}

TEST(Bundle, AnEmptyLogHasOneToo) {
  SampleLog log;
  log.rows.clear();
  log.checkpoints = {signed_at(log.rows, 0, sample_key())};
  EXPECT_TRUE(verify_bundle(bundle_of(log)).ok);
}

TEST(Bundle, LeavesOutWhatNoCheckpointCovers) {
  SampleLog log = sample_log();
  log.checkpoints.pop_back();
  const Verdict verdict = verify_bundle(bundle_of(log));
  EXPECT_TRUE(verdict.ok) << verdict.sentence;
  EXPECT_EQ(verdict.size, 14);
}

TEST(Bundle, IsNotWrittenFromALogThatIsTooShort) {
  const SampleLog log = sample_log();
  const std::vector<StoredRow> cut(log.rows.begin(), log.rows.begin() + 10);
  const auto ignore = [](std::string_view) -> Result<void> { return {}; };
  EXPECT_EQ(write_bundle(log.key, log.checkpoints, each_of(cut), ignore).error().code,
            Code::audit_broken);
  EXPECT_EQ(write_bundle(log.key, {}, each_of(log.rows), ignore).error().code, Code::audit_broken);
  const auto full = [](std::string_view) -> Result<void> {
    return fail(Code::store_full, "no room");
  };
  EXPECT_EQ(write_bundle(log.key, log.checkpoints, each_of(log.rows), full).error().code,
            Code::store_full);
}

TEST(Bundle, TheVerdictDoesNotDependOnHowTheBytesArrive) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::string good = bundle_of(sample_log());
  for (int round = 0; round < 40; ++round) {
    std::string text = good;
    if (round % 2 == 1) text[random() % text.size()] ^= 4;
    const Verdict whole = verify_bundle(text);
    BundleCheck check({});
    for (size_t at = 0; at < text.size();) {
      const size_t length = std::min<size_t>(text.size() - at, 1 + random() % 700);
      check.feed(std::string_view(text).substr(at, length));
      at += length;
    }
    ASSERT_EQ(check.finish(), whole) << whole.sentence;
  }
}

TEST(Bundle, ALineWithoutEndIsGivenUpOn) {
  BundleCheck check({});
  check.feed(bundle_of(sample_log()));
  const std::string piece(1000, 'x');
  size_t fed = 0;
  while (check.feed(piece)) fed += piece.size();
  EXPECT_LE(fed, kMaxBundleLine);
  EXPECT_EQ(check.finish().finding, Finding::malformed_bundle);
}

// All bits of the header and the checkpoint. Of the entries every 31st bit, or all with
// EXA_EXHAUSTIVE=1: an entry's bit shows only once all twenty are hashed, which takes a minute or
// more without optimisation.
TEST(BundleTampering, EveryFlippedBitIsFound) {
  SampleLog log = sample_log();
  log.checkpoints = {log.checkpoints[2]};
  const std::string good = bundle_of(log);
  const size_t stride = std::getenv("EXA_EXHAUSTIVE") == nullptr ? 31 : 1;
  const size_t entries_begin = good.find('\n') + 1, entries_end = good.rfind("}\n") + 2;
  size_t tried = 0;
  for (size_t bit = 0; bit < good.size() * 8; ++bit, ++tried) {
    if (bit / 8 >= entries_begin && bit / 8 < entries_end) bit += stride - 1;
    if (bit / 8 >= good.size()) break;
    std::string altered = good;
    altered[bit / 8] = static_cast<char>(altered[bit / 8] ^ (1 << (bit % 8)));
    const Verdict verdict = verify_bundle(altered);
    ASSERT_FALSE(verdict.ok) << "bit " << bit;
    ASSERT_FALSE(verdict.where.empty()) << "bit " << bit;
  }
  RecordProperty("bits", static_cast<int>(tried));
  EXPECT_GE(tried, good.size() * 8 / stride);
}

TEST(BundleTampering, AFlippedBitOfAnEntryIsLocatedBetweenItsCheckpoints) {
  const std::string good = bundle_of(sample_log());
  std::vector<std::string> lines = lines_of(good);
  for (size_t i = 0; i < 20; ++i) {
    const size_t line = 1 + i + (i >= 7) + (i >= 14);
    for (size_t byte = 0; byte < lines[line].size(); byte += 17) {
      std::vector<std::string> altered = lines;
      altered[line][byte] = static_cast<char>(altered[line][byte] ^ 1);
      const Verdict verdict = verify_bundle(text_of(altered));
      ASSERT_FALSE(verdict.ok);
      if (!verdict.first_bad_index) {
        // the bit of the brace: the line is no longer taken for an entry
        EXPECT_EQ(verdict.where, fmt::format("line {}", line + 1));
        continue;
      }
      const auto entry = static_cast<int64_t>(i);
      // a time moved forward shows only at the entry after it
      EXPECT_LE(*verdict.first_bad_index, entry + 1) << verdict.sentence;
      EXPECT_GE(*verdict.last_bad_index, entry) << verdict.sentence;
    }
  }
}

// Where a cut leaves a whole older bundle; see "What verification proves" in docs/audit-format.md.
bool is_an_older_bundle(const std::vector<std::string>& lines, size_t count) {
  return count == kFirstCheckpointLine + 1 || count == kSecondCheckpointLine + 1 ||
         count == lines.size();
}

TEST(BundleTampering, EveryCutIsFoundSaveAnOlderBundle) {
  const std::string good = bundle_of(sample_log());
  for (size_t length = 0; length < good.size(); length += length % 450 == 0 ? 1 : 9) {
    const std::string_view cut = std::string_view(good).substr(0, length);
    if (cut.ends_with("\"\n")) continue;
    EXPECT_FALSE(verify_bundle(cut).ok) << length;
  }
  const std::vector<std::string> lines = lines_of(good);
  for (size_t count = 0; count <= lines.size(); ++count) {
    const std::string cut =
        count == 0 ? "" : text_of({lines.begin(), lines.begin() + static_cast<long>(count)});
    EXPECT_EQ(verify_bundle(cut).ok, is_an_older_bundle(lines, count)) << count;
    const BundleAnchor newest{std::nullopt, {sample_log().checkpoints[2]}};
    EXPECT_EQ(verify_bundle(cut, newest).ok, count == lines.size()) << count;
  }
}

TEST(BundleTampering, EveryLineThatIsRemovedDoubledOrMovedIsFound) {
  const std::vector<std::string> lines = lines_of(bundle_of(sample_log()));
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> without = lines;
    without.erase(without.begin() + static_cast<long>(i));
    // an earlier checkpoint may be missing: the later ones still cover every entry
    const bool spare = i == kFirstCheckpointLine || i == kSecondCheckpointLine;
    EXPECT_EQ(verify_bundle(text_of(without)).ok, spare) << "without line " << i;

    for (size_t k = 0; k <= lines.size(); ++k) {
      std::vector<std::string> doubled = lines;
      doubled.insert(doubled.begin() + static_cast<long>(k), lines[i]);
      EXPECT_FALSE(verify_bundle(text_of(doubled)).ok) << "line " << i << " again at " << k;
    }
    if (i + 1 < lines.size()) {
      std::vector<std::string> swapped = lines;
      std::swap(swapped[i], swapped[i + 1]);
      EXPECT_FALSE(verify_bundle(text_of(swapped)).ok) << "lines swapped at " << i;
    }
  }
}

TEST(BundleTampering, ALineOfAnythingElseIsFoundEverywhere) {
  const std::vector<std::string> lines = lines_of(bundle_of(sample_log()));
  for (const std::string_view foreign : {"", " ", "{}", "\"\"", "null", "[]", "# note", "\r"}) {
    for (size_t k = 0; k <= lines.size(); ++k) {
      std::vector<std::string> more = lines;
      more.insert(more.begin() + static_cast<long>(k), std::string(foreign));
      EXPECT_FALSE(verify_bundle(text_of(more)).ok) << "\"" << foreign << "\" at " << k;
    }
  }
}

// The list in docs/audit-format.md, "What verification proves", is exact: these pass without an
// anchor and fail with the one that the page names.
TEST(BundleTampering, WhatOnlyAnAnchorShows) {
  const SampleLog log = sample_log();
  const std::vector<std::string> lines = lines_of(bundle_of(log));

  SampleLog forged = log;
  const SigningKey foreign = sample_key(66);
  for (StoredRow& row : forged.rows) {
    AuditEntry entry = audit_entry_from_leaf(row.text).value();
    entry.actor_name = "eve";
    row = stored(row.index, leaf_text(entry).value());
  }
  SampleLog rewritten = forged;
  forged.key = foreign.public_key();
  forged.checkpoints = {signed_at(forged.rows, 20, foreign)};
  rewritten.checkpoints = {signed_at(rewritten.rows, 20, sample_key())};

  struct Case {
    std::string_view what;
    std::string bundle;
    BundleAnchor anchor;
    Finding finding;
  };
  const Case cases[] = {
      {"cut back to an earlier checkpoint",
       text_of({lines.begin(), lines.begin() + kSecondCheckpointLine + 1}),
       {std::nullopt, {log.checkpoints[2]}},
       Finding::log_too_short},
      {"signed with another key", bundle_of(forged), {log.key, {}}, Finding::unknown_key},
      {"signed with another key, against a remembered checkpoint",
       bundle_of(forged),
       {std::nullopt, {log.checkpoints[0]}},
       Finding::unknown_key},
      {"written anew by the holder of the key",
       bundle_of(rewritten),
       {log.key, {log.checkpoints[0]}},
       Finding::root_differs},
  };
  for (const Case& c : cases) {
    EXPECT_TRUE(verify_bundle(c.bundle).ok) << c.what;
    const Verdict anchored = verify_bundle(c.bundle, c.anchor);
    EXPECT_FALSE(anchored.ok) << c.what;
    EXPECT_EQ(name(anchored.finding), name(c.finding)) << c.what << ": " << anchored.sentence;
  }
}

}  // namespace
}  // namespace exa
