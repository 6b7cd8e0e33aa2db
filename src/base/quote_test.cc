#include "base/quote.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/process.h"

namespace exa {
namespace {

TEST(ShellQuote, PlainWordsStayPlain) {
  for (const char* word :
       {"scontrol", "show", "-o", "--format=csv", "/sys/bus/pci", "user@host:22", "a,b", "50%"})
    EXPECT_EQ(shell_quote(word), word);
}

TEST(ShellQuote, EverythingElseIsQuoted) {
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  for (const char* word :
       {"$HOME", "`id`", "~", "*", "a;b", "a\nb", "!x", "#x", "A=b", "if", "time", "{", "=ls"})
    EXPECT_EQ(shell_quote(word).front(), '\'') << word;
}

TEST(ShellLine, JoinsQuotedWordsWithOneBlank) {
  const std::vector<std::string> argv = {"sinfo", "-o", "%N|%P", ""};
  EXPECT_EQ(shell_line(argv), "sinfo -o '%N|%P' ''");
  EXPECT_EQ(shell_line({}), "");
}

// Words made of what shells treat specially, and of any byte but NUL.
std::vector<std::string> random_words(std::mt19937& random, size_t count) {
  const std::string special = " \t\n\r'\"\\$`!*?[]{}()<>|&;#~=%^-\x01\x7f\x80\xff";
  std::vector<std::string> words;
  for (size_t i = 0; i < count; ++i) {
    std::string word(random() % 24, ' ');
    for (char& c : word)
      c = random() % 2 ? special[random() % special.size()] : static_cast<char>(1 + random() % 255);
    words.push_back(word);
  }
  return words;
}

class RealShell : public testing::TestWithParam<const char*> {};

TEST_P(RealShell, AnyBytesArriveAsTheyAre) {
  if (!find_program(GetParam())) FAIL() << "no " << GetParam();
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int batch = 0; batch < 4; ++batch) {
    const std::vector<std::string> words = random_words(random, 750);
    std::vector<std::string> argv = {"/usr/bin/env", "printf", "%s\\0"};
    argv.insert(argv.end(), words.begin(), words.end());
    Command shell;
    shell.argv = {GetParam()};
    shell.input = shell_line(argv) + "\n";
    const Result<Finished> finished = run_command(shell);
    ASSERT_TRUE(finished) << finished.error().message;
    EXPECT_EQ(finished->err, "");
    std::string expected;
    for (const std::string& word : words) expected += word + '\0';
    ASSERT_EQ(finished->out, expected);
  }
}

TEST_P(RealShell, AReservedWordOrAnAssignmentIsAProgramName) {
  for (const char* word : {"if", "A=b", "while", "function"}) {
    Command shell;
    shell.argv = {GetParam()};
    const std::vector<std::string> argv = {word};
    shell.input = shell_line(argv) + "\n";
    const Result<Finished> finished = run_command(shell);
    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->exit_code, 127) << word << ": " << finished->err;  // no such program
  }
}

std::vector<std::string> words_of(std::string_view text,
                                  ShellSyntax syntax = ShellSyntax::command) {
  const Result<ShellLine> line = shell_words(text, syntax);
  if (!line) return {"error", line.error().message};
  std::vector<std::string> words;
  for (const ShellWord& word : line->words)
    words.push_back(word.is_fixed ? word.text : word.text + " (open)");
  return words;
}

TEST(ShellWords, QuotesAreTakenOff) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of("-N2 --gres=gpu:a100:4  -t 1:00:00"),
            (Words{"-N2", "--gres=gpu:a100:4", "-t", "1:00:00"}));
  EXPECT_EQ(words_of(R"(--comment='two words' --job-name="a \"b\" c" it\'s a"b"'c')"),
            (Words{"--comment=two words", R"(--job-name=a "b" c)", "it's", "abc"}));
  EXPECT_EQ(words_of("'' \"\""), (Words{"", ""}));
  EXPECT_EQ(words_of("-N2 \\\n  -c 8 \\\n"), (Words{"-N2", "-c", "8"}));
  EXPECT_EQ(words_of(""), Words{});
}

TEST(ShellWords, WhatOnlyTheShellKnowsIsMarked) {
  for (const char* text : {"-N$NODES", "\"$x\"", "`id`", "a*", "b?", "[ab]", "~/job"})
    EXPECT_FALSE(shell_words(text)->words.at(0).is_fixed) << text;
  for (const char* text : {"'$x'", "\\$x", "\"\\$x\"", "a~", "'*'"})
    EXPECT_TRUE(shell_words(text)->words.at(0).is_fixed) << text;
}

TEST(ShellWords, ACommandEndsWhereTheShellEndsIt) {
  for (const char* text : {"srun a", "srun a;b", "srun a&& b", "srun a >log", "srun a|b",
                           "srun a # note", "srun a\nb"}) {
    const ShellLine line = shell_words(text).value();
    ASSERT_EQ(line.words.size(), 2U) << text;
    EXPECT_EQ(line.words[1].text, "a");
    EXPECT_EQ(std::string_view(text).substr(line.words[0].begin, 4), "srun");
  }
  EXPECT_EQ(shell_words("a # b")->end, 2U);
  EXPECT_EQ(shell_words("a#b")->words.at(0).text, "a#b");
}

// sbatch takes what follows #SBATCH without a shell.
TEST(ShellWords, TheHeadOfAScriptKnowsNoOperators) {
  EXPECT_EQ(words_of("--constraint=a100&ib|(x) -o %x-$USER.out # why", ShellSyntax::words),
            (std::vector<std::string>{"--constraint=a100&ib|(x)", "-o", "%x-$USER.out"}));
}

TEST(ShellWords, WhatIsNotFinishedIsRefused) {
  for (const char* text : {"'a", "\"a", "a\\", "\"a\\\""})
    EXPECT_EQ(words_of(text).front(), "error") << text;
  EXPECT_EQ(words_of(std::string_view("a\0b", 3)).front(), "error");
}

// Lines of what the grammar is made of, beside the same lines in a real shell.
TEST_P(RealShell, ALineHasTheWordsThatTheShellSees) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  constexpr std::string_view kAlphabet = "ab '\"\\ \t#=-x:'\" \n";
  std::string script;
  std::string expected;
  size_t refused = 0;
  for (int i = 0; i < 8'000; ++i) {
    std::string line(1 + random() % 14, ' ');
    for (char& c : line) c = kAlphabet[random() % kAlphabet.size()];
    const Result<ShellLine> read = shell_words(line);
    if (!read) {
      if (refused++ >= 60 || line.back() == '\\') continue;
      Command shell;
      shell.argv = {GetParam(), "-n"};
      shell.input = ": " + line + "\n";
      EXPECT_NE(run_command(shell)->exit_code, 0) << line;
      continue;
    }
    if (line.substr(read->end).find('\n') != std::string::npos) continue;  // another command
    script += "printf '%s\\0' : " + line + "\n";
    expected += std::string(":") + '\0';
    for (const ShellWord& word : read->words) expected += word.text + '\0';
  }
  ASSERT_GT(expected.size(), 10'000U);
  Command shell;
  shell.argv = {GetParam()};
  shell.input = script;
  const Result<Finished> finished = run_command(shell);
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_EQ(finished->err, "");
  EXPECT_EQ(finished->out, expected);
}

TEST(ShellWords, ReadWhatShellLineWrote) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 500; ++i) {
    const std::vector<std::string> words = random_words(random, 1 + random() % 5);
    EXPECT_EQ(words_of(shell_line(words)), words);
  }
}

INSTANTIATE_TEST_SUITE_P(Shells, RealShell, testing::Values("sh", "bash"));

}  // namespace
}  // namespace exa
