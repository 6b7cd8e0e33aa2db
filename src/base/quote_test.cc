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

INSTANTIATE_TEST_SUITE_P(Shells, RealShell, testing::Values("sh", "bash"));

}  // namespace
}  // namespace exa
