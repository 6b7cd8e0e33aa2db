#include "base/redact.h"

#include <gtest/gtest.h>

namespace exa {
namespace {

TEST(Redact, HidesTokensAndPasswordsOfUrlsAndNothingElse) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", ""},
      {"/api/v1/pools", "/api/v1/pools"},
      {"/api/v1/leases/exa_pat_0aZ9", "/api/v1/leases/exa_pat_…"},
      {"exa_pat_abc exa_pat_def", "exa_pat_… exa_pat_…"},
      {"exa_pat_", "exa_pat_"},
      {"exa_pat_exa_pat_abc", "exa_pat_…_pat_abc"},  // no token: digits are letters and numbers
      {"https://ada:pw@host/x", "https://…@host/x"},
      {"https://ada@host", "https://…@host"},
      {"https://ada:p@w@host/x@y", "https://…@host/x@y"},
      {"https://host/x@y", "https://host/x@y"},
      {"https://host and a@b", "https://host and a@b"},
      {"no \"https://u:p@h\" here", "no \"https://…@h\" here"},
      {"ada@example.org", "ada@example.org"},
      {"https://exa_pat_abc@host", "https://…@host"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(without_secrets(text), shown);
}

}  // namespace
}  // namespace exa
