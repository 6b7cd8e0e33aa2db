// How the tests of resolve() look at its answers.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolve/resolve.h"
#include "resolve/samples_for_test.h"

namespace exa::sample {

MATCHER_P2(Is, status, cause, "") {
  *result_listener << name(arg.status) << "/" << name(arg.cause) << ": " << arg.reason;
  return arg.status == status && arg.cause == cause;
}

inline Match verdict_on(const Resolution& answer, std::string_view field) {
  const FieldVerdict* found = find_verdict(answer, field);
  EXPECT_NE(found, nullptr) << field;
  return found == nullptr ? Match::not_reported : found->verdict;
}

inline std::vector<std::string> names_of(const std::vector<Dimension>& dimensions) {
  std::vector<std::string> names;
  for (const Dimension& dimension : dimensions) names.push_back(dimension.name);
  return names;
}

}  // namespace exa::sample
