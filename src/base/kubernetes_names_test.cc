#include "base/kubernetes_names.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

struct Row {
  std::string text;
  bool right;
};

void expect(bool (*is)(std::string_view), const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(is(row.text), row.right) << '"' << row.text << '"';
}

TEST(KubernetesNames, ADnsLabelHas63LowerCaseCharacters) {
  expect(is_dns_label, {{"a", true},
                        {"0-a", true},
                        {std::string(63, 'a'), true},
                        {std::string(64, 'a'), false},
                        {"", false},
                        {"A", false},
                        {"-a", false},
                        {"a-", false},
                        {"a.b", false},
                        {"a_b", false}});
}

TEST(KubernetesNames, ASubdomainIsPartsWithDotsBetween) {
  expect(is_dns_subdomain, {{"a.b-c.0", true},
                            {std::string(253, 'a'), true},
                            {std::string(254, 'a'), false},
                            {"", false},
                            {"a..b", false},
                            {".a", false},
                            {"a.", false},
                            {"a.-b", false}});
}

TEST(KubernetesNames, AKeyMayHaveADomainBeforeASlash) {
  expect(is_label_key, {{"palette.ai", true},
                        {"palette.ai/min-nodes", true},
                        {"A_b.c-D", true},
                        {fmt::format("{}/{}", std::string(253, 'd'), std::string(63, 'n')), true},
                        {fmt::format("{}/n", std::string(254, 'd')), false},
                        {std::string(64, 'n'), false},
                        {"", false},
                        {"/n", false},
                        {"d/", false},
                        {"D/n", false},
                        {"a/b/c", false},
                        {"a b", false},
                        {"{{x}}", false}});
}

TEST(KubernetesNames, AValueMayBeEmpty) {
  expect(is_label_value, {{"", true},
                          {"7.14.5", true},
                          {"A", true},
                          {std::string(63, 'v'), true},
                          {std::string(64, 'v'), false},
                          {"-v", false},
                          {"v.", false},
                          {"a b", false},
                          {"a/b", false}});
}

}  // namespace
}  // namespace exa
