// tests/audit/verify.py was written from docs/audit-format.md, not from this code. Both must give
// the same verdict on every bundle, good or bad.
#include <filesystem>
#include <fstream>
#include <random>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/bundle.h"
#include "audit/sample_log.h"
#include "base/text.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace exa {
namespace {

namespace fs = std::filesystem;
using namespace exa::testing;

struct Question {
  std::string what;
  std::string bundle;
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TwoVerifiers : public ::testing::Test {
 protected:
  TwoVerifiers() {
    std::string pattern = (fs::temp_directory_path() / "exa-audit-XXXXXX").string();
    EXA_ASSERT(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~TwoVerifiers() override { fs::remove_all(folder_); }

  // What verify.py prints for these arguments, one line for each bundle.
  std::vector<json::value> ask_python(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {
        "python3", "-B", (fs::path(EXA_TESTDATA).parent_path() / "tests/audit/verify.py").string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string out = (folder_ / "answers").string();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child = 0;
    const int spawned = posix_spawnp(&child, "python3", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    EXPECT_EQ(spawned, 0) << "python3 is needed";
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1) << "verify.py failed";
    std::vector<json::value> answers;
    const std::string text = content_of(out);
    for (const std::string_view line : split(trim(text), '\n')) {
      answers.push_back(parse_json(line, "answer of verify.py").value());
    }
    return answers;
  }

  void expect_agreement(const std::vector<Question>& questions, const BundleAnchor& anchor = {}) {
    std::vector<std::string> arguments;
    if (anchor.key) arguments.insert(arguments.end(), {"--key", to_text(*anchor.key)});
    for (size_t i = 0; i < anchor.checkpoints.size(); ++i) {
      arguments.insert(arguments.end(),
                       {"--checkpoint", file("checkpoint", i, anchor.checkpoints[i])});
    }
    for (size_t i = 0; i < questions.size(); ++i) {
      arguments.push_back(file("bundle", i, questions[i].bundle));
    }
    const std::vector<json::value> answers = ask_python(arguments);
    ASSERT_EQ(answers.size(), questions.size());
    for (size_t i = 0; i < questions.size(); ++i) {
      json::object ours = to_json(verify_bundle(questions[i].bundle, anchor));
      ours.erase("sentence");
      ours.erase("entries_after_checkpoint");
      json::object theirs = answers[i].as_object();
      theirs.erase("bundle");
      EXPECT_EQ(to_canonical_text(ours), to_canonical_text(theirs)) << questions[i].what;
    }
  }

  std::string file(std::string_view kind, size_t i, const std::string& text) {
    const fs::path path = folder_ / fmt::format("{}-{}", kind, i);
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  fs::path folder_;
};

// A bundle of one leaf that is what it is, properly signed: only the rules for entries decide.
std::string signed_bundle(const std::string& leaf) {
  SampleLog log;
  log.rows = {stored(0, leaf)};
  log.checkpoints = {signed_at(log.rows, 1, sample_key())};
  return bundle_of(log);
}

std::string leaf_with(std::string_view key, std::string_view raw_value) {
  std::string leaf = sample_leaf(0);
  const std::string start = fmt::format("\"{}\":", key);
  const size_t at = leaf.find(start) + start.size();
  const size_t end =
      leaf.find_first_of(leaf[at] == '{' ? "}" : ",", at) + (leaf[at] == '{' ? 1 : 0);
  // "time" stands last: its value ends at the brace
  const size_t stop = end == std::string::npos ? leaf.size() - 1 : end;
  return leaf.replace(at, stop - at, raw_value);
}

std::string nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

std::string values(size_t count) {
  std::string text = "[0";
  for (size_t i = 1; i < count; ++i) text += ",0";
  return text + "]";
}

TEST_F(TwoVerifiers, AgreeOnGoodBundles) {
  std::vector<Question> questions;
  for (const size_t size : {0, 1, 2, 3, 7, 8, 20, 33}) {
    SampleLog log;
    log.rows = sample_rows(static_cast<int64_t>(size));
    for (size_t at = 0; at <= size; at += 1 + size / 3) {
      log.checkpoints.push_back(signed_at(log.rows, at, sample_key()));
    }
    questions.push_back({fmt::format("{} entries", size), bundle_of(log)});
    EXPECT_TRUE(verify_bundle(questions.back().bundle).ok);
  }
  expect_agreement(questions);
}

TEST_F(TwoVerifiers, AgreeOnWhatAnEntryIs) {
  struct Raw {
    std::string_view key;
    std::string value;
  };
  const std::vector<Raw> raws = {
      {"index", "0"},
      {"index", "-0"},
      {"index", "0.0"},
      {"index", "0e0"},
      {"index", "00"},
      {"index", "1"},
      {"index", "-1"},
      {"index", "\"0\""},
      {"index", "null"},
      {"index", "true"},
      {"index", "9223372036854775807"},
      {"index", "9223372036854775808"},
      {"index", "-9223372036854775808"},
      {"index", "-9223372036854775809"},
      {"index", "18446744073709551616"},
      {"format", "true"},
      {"format", "1.0"},
      {"format", "2"},
      {"object_version", "null"},
      {"object_version", "-5"},
      {"object_version", "1.5"},
      {"object_version", "false"},
      {"time", "\"2024-02-29T00:00:00.000000Z\""},
      {"time", "\"1900-02-29T00:00:00.000000Z\""},
      {"time", "\"2000-02-29T00:00:00.000000Z\""},
      {"time", "\"0000-01-01T00:00:00.000000Z\""},
      {"time", "\"2026-04-31T00:00:00.000000Z\""},
      {"time", "\"2026-13-01T00:00:00.000000Z\""},
      {"time", "\"2026-00-01T00:00:00.000000Z\""},
      {"time", "\"2026-01-01T24:00:00.000000Z\""},
      {"time", "\"2026-01-01T23:59:60.000000Z\""},
      {"time", "\"2026-01-01T23:59:59.999999Z\""},
      {"time", "\"2026-01-01T23:59:59.999999z\""},
      {"time", "\"2026-01-01 23:59:59.999999Z\""},
      {"time", "\"2026-01-01T23:59:59.99999Z\""},
      {"time", "\"2026-01-01T23:59:59.9999990Z\""},
      {"time",
       "\"\xD9\xA2"
       "026-01-01T23:59:59.999999Z\""},
      {"time", "\"2026-01-01T23:59:59.999999Z\\n\""},
      {"time", "1"},
      {"time", "\"9999-12-31T23:59:59.999999Z\""},
      {"reason", "\"\\u00e9\\ud83d\\ude00\""},
      {"reason", "\"\\ud83d\""},
      {"reason", "\"\\ude00\\ud83d\""},
      {"reason", "\"\\u0000\""},
      {"reason", "\"a\tb\""},
      {"reason",
       "\"a\x7f"
       "b\""},
      {"reason", "\"\\x\""},
      {"reason", "\"\xff\""},
      {"reason", "\"\xed\xa0\x80\""},
      {"reason", "\"\xc0\x80\""},
      {"reason", "'a'"},
      {"reason", "\"\\/\""},
      {"action", "\"\""},
      {"actor_kind", "\"robot\""},
      {"actor_kind", "\"user\""},
      {"outcome", "\"refused\""},
      {"error_code", "\"conflict\""},
      {"before_digest", "\"" + std::string(64, 'a') + "\""},
      {"before_digest", "\"" + std::string(64, 'A') + "\""},
      {"before_digest", "\"" + std::string(63, 'a') + "\""},
      {"before_digest", "\"" + std::string(64, 'a') + "\\n\""},
      {"details", "{}"},
      {"details", "[]"},
      {"details", "null"},
      {"details", "{\"a\":NaN}"},
      {"details", "{\"a\":Infinity}"},
      {"details", "{\"a\":-Infinity}"},
      {"details", "{\"a\":1e308}"},
      {"details", "{\"a\":1e309}"},
      {"details", "{\"a\":-1e999}"},
      {"details", "{\"a\":1" + std::string(308, '0') + "}"},
      {"details", "{\"a\":1" + std::string(400, '0') + "}"},
      {"details", "{\"a\":1,\"a\":2}"},
      {"details", "{\"a\":{\"b\":1,\"b\":1}}"},
      {"details", "{\"a\":1,\"\\u0061\":2}"},
      {"details", "{\"a\":1,}"},
      {"details", "{\"a\":[1,]}"},
      {"details", "{\"a\":01}"},
      {"details", "{\"a\":1.}"},
      {"details", "{\"a\":.5}"},
      {"details", "{\"a\":+1}"},
      {"details", "{\"a\":1E+2}"},
      {"details", "{\"a\":tru}"},
      {"details", "{\"a\" : 1 }"},
      {"details", "{\"a\":\f1}"},
      {"details", "{/**/}"},
      {"details", "{\"a\":-}"},
      {"details", "{\"a\":" + nested(62) + "}"},
      {"details", "{\"a\":" + nested(63) + "}"},
      {"details", "{\"a\":" + nested(64) + "}"},
      {"details", "{\"a\":" + values(9'900) + "}"},
      {"details", "{\"a\":" + values(9'978) + "}"},
      {"details", "{\"a\":" + values(9'979) + "}"},
      {"details", "{\"a\":" + values(9'980) + "}"},
      {"details", "{\"a\":" + values(9'981) + "}"},
      {"details", "{\"a\":" + values(9'982) + "}"},
      {"details", "{\"a\":" + values(10'100) + "}"},
      {"details", "{\"a\":\"" + std::string(64'900, 'x') + "\"}"},
      {"details", "{\"a\":\"" + std::string(65'400, 'x') + "\"}"},
      {"details", "{\"a\":\"" + std::string(140'000, 'x') + "\"}"},
  };
  std::vector<Question> questions;
  for (const Raw& raw : raws) {
    questions.push_back({fmt::format("{} = {}", raw.key, raw.value.substr(0, 80)),
                         signed_bundle(leaf_with(raw.key, raw.value))});
  }
  const std::string leaf = sample_leaf(0);
  for (const std::string& odd :
       {" " + leaf, leaf + " ", leaf + "\r", leaf + "\v", leaf + "x", leaf + leaf, "{" + leaf + "}",
        "\xEF\xBB\xBF" + leaf, std::string("{}"), std::string("{"), std::string("{\0}", 3)}) {
    questions.push_back({odd, signed_bundle(odd)});
  }
  size_t accepted = 0;
  for (const Question& question : questions) accepted += verify_bundle(question.bundle).ok ? 1 : 0;
  EXPECT_GT(accepted, 15);  // the table must hold both kinds
  EXPECT_GT(questions.size() - accepted, 40);
  expect_agreement(questions);
}

std::vector<Question> altered_bundles(std::mt19937_64& random, size_t count) {
  constexpr std::string_view kBytes = "{}[]\",:0129\\/ \n\r\t-+.eEuAaTZ\x7f\xff\xe2";
  const std::string good = bundle_of(sample_log());
  std::vector<Question> questions;
  while (questions.size() < count) {
    std::string text = good;
    const size_t at = random() % text.size();
    const std::string kind =
        std::array{"bit", "byte", "cut", "removed", "inserted", "moved"}[random() % 6];
    const std::string_view piece = std::string_view(good).substr(at, random() % 600);
    const char byte = kBytes[random() % kBytes.size()];
    if (kind == "bit")
      text[at] = static_cast<char>(text[at] ^ (1 << (random() % 8)));
    else if (kind == "byte")
      text[at] = byte;
    else if (kind == "cut")
      text.resize(at);
    else if (kind == "removed")
      text.erase(at, piece.size());
    else if (kind == "inserted")
      text.insert(at, 1, byte);
    else
      text.insert(random() % text.size(), piece);
    questions.push_back({fmt::format("{} at {}", kind, at), std::move(text)});
  }
  return questions;
}

TEST_F(TwoVerifiers, AgreeOnAlteredBundles) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  expect_agreement(altered_bundles(random, 400));
}

TEST_F(TwoVerifiers, AgreeOnLinesRemovedDoubledAndSwapped) {
  const std::string good = bundle_of(sample_log());
  std::vector<std::string> lines;
  for (const std::string_view line : split(good, '\n')) lines.emplace_back(line);
  lines.pop_back();
  const auto text = [](const std::vector<std::string>& parts) { return join(parts, "\n") + "\n"; };
  std::vector<Question> questions;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> removed = lines, doubled = lines, swapped = lines;
    removed.erase(removed.begin() + static_cast<long>(i));
    doubled.insert(doubled.begin() + static_cast<long>(i), lines[i]);
    std::swap(swapped[i], swapped[(i + 5) % lines.size()]);
    questions.push_back({fmt::format("line {} removed", i), text(removed)});
    questions.push_back({fmt::format("line {} doubled", i), text(doubled)});
    questions.push_back({fmt::format("line {} swapped", i), text(swapped)});
    questions.push_back({fmt::format("cut after line {}", i),
                         text({lines.begin(), lines.begin() + static_cast<long>(i) + 1})});
  }
  expect_agreement(questions);
}

TEST_F(TwoVerifiers, AgreeWhenTheReaderKnowsMore) {
  const SampleLog log = sample_log();
  SampleLog other = log;
  other.key = sample_key(66).public_key();
  other.checkpoints = {signed_at(other.rows, 20, sample_key(66))};
  SampleLog shorter = log;
  shorter.checkpoints.resize(2);
  const SampleLog longer{log.key, sample_rows(25), {}};
  const std::vector<Question> questions = {{"good", bundle_of(log)},
                                           {"another key", bundle_of(other)},
                                           {"older", bundle_of(shorter)},
                                           {"none", ""}};
  SampleLog differing = log;
  differing.rows[3] = differing.rows[4];
  const std::string empty_log = sign_checkpoint({log.key.name, 0, sha256(""), {}}, sample_key());
  const std::string bad_empty_log =
      sign_checkpoint({log.key.name, 0, sha256("x"), {}}, sample_key());
  const std::vector<BundleAnchor> anchors = {
      {log.key, {}},
      {std::nullopt, {log.checkpoints[2]}},
      {log.key, {log.checkpoints[1], empty_log, log.checkpoints[1]}},
      {std::nullopt, {bad_empty_log}},
      {log.key, {signed_at(longer.rows, 25, sample_key())}},
      {log.key, {signed_at(differing.rows, 12, sample_key())}},
      {log.key, {log.checkpoints[0], signed_at(differing.rows, 7, sample_key())}},
      {log.key, {"not a checkpoint"}},
  };
  for (const BundleAnchor& anchor : anchors) expect_agreement(questions, anchor);
}

}  // namespace
}  // namespace exa
