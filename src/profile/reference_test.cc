#include "profile/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/validate.h"

namespace exa {
namespace {

using testing::HasSubstr;

TEST(Reference, ReadsNameVersionAndLabel) {
  EXPECT_EQ(parse_reference("train-2gpu"), (ProfileRef{"train-2gpu", {}, {}}));
  EXPECT_EQ(parse_reference("train-2gpu@3"), (ProfileRef{"train-2gpu", 3, {}}));
  EXPECT_EQ(parse_reference("train-2gpu@candidate"), (ProfileRef{"train-2gpu", {}, "candidate"}));
}

TEST(Reference, PrintsWhatItRead) {
  for (const char* text : {"a", "a@1", "a@9223372036854775807", "a-b@candidate", "7@7a"})
    EXPECT_EQ(to_text(*parse_reference(text)), text);
}

TEST(Reference, RefusesWhatIsNone) {
  struct Row {
    std::string text;
    std::string says;
  };
  const Row rows[] = {
      {"", "empty"},
      {"@3", "empty"},
      {"name@", "nothing follows the @"},
      {"name@0", "count from 1"},
      {"name@03", "count from 1"},
      {"name@9223372036854775808", "too large"},
      {"a@b@c", "more than one @"},
      {"name@-1", "not a label"},
      {"name@Active", "not a label"},
      {"Name", "not a profile name"},
      {"na me", "not a profile name"},
      {std::string("na\0me", 5), "not a profile name"},
  };
  for (const Row& row : rows) {
    const auto read = parse_reference(row.text);
    ASSERT_FALSE(read) << row.text;
    EXPECT_EQ(read.error().code, Code::invalid_input);
    EXPECT_THAT(read.error().message, HasSubstr(row.says)) << row.text;
  }
}

TEST(Names, TakeWhatTheRuleTakes) {
  for (const std::string& name : {std::string("a"), std::string("0"), std::string("a-b"),
                                  std::string("train-2gpu-a100"), std::string(63, 'x')})
    EXPECT_EQ(check_name(name, "profile name"), name);
}

TEST(Names, RefuseWithASpellingThatWouldDo) {
  struct Row {
    std::string text;
    std::string proposed;  // empty: none
  };
  const Row rows[] = {
      {"Train_2GPU", "train-2gpu"},
      {"train 2 gpu", "train-2-gpu"},
      {"-a-", "a"},
      {"a.b", "a-b"},
      {"a/b", "a-b"},
      {"ümlaut", "mlaut"},
      {"", ""},
      {"---", ""},
      {"a\nb", "a-b"},
      {std::string(64, 'y'), std::string(63, 'y')},
  };
  for (const Row& row : rows) {
    const auto checked = check_name(row.text, "profile name");
    ASSERT_FALSE(checked) << row.text;
    if (row.proposed.empty()) {
      EXPECT_TRUE(checked.error().alternatives.empty()) << row.text;
    } else {
      EXPECT_THAT(checked.error().alternatives, testing::ElementsAre(row.proposed)) << row.text;
      EXPECT_EQ(check_name(row.proposed, "profile name"), row.proposed);
    }
    EXPECT_EQ(checked.error().message.find('\n'), std::string::npos);
  }
}

TEST(Names, ALabelOfDigitsWouldReadAsAVersion) {
  EXPECT_FALSE(check_label("3"));
  EXPECT_EQ(check_label("v3"), "v3");
}

}  // namespace
}  // namespace exa
