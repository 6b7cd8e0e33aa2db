// What importing a profile keeps, beyond what every route keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::HasSubstr;

TEST(ImportedProfile, FollowsFromTheLogLikeOneThatWasSet) {
  TestExa exa;
  exa.ask("hardware_profile.import", {{"sbatch", "-c8 --mem=32G"}, {"name", "read"}});
  const json::value shown = exa.ask("hardware_profile.show", {{"name", "read"}});
  EXPECT_EQ(shown.at("cpu"), 8);
  EXPECT_EQ(shown.at("memory_gb"), 32);
  EXPECT_EQ(exa.ask("audit.verify", {}).at("ok"), true);
}

TEST(ImportedProfile, IsSetWithTheSameDigestWhicheverWayItCame) {
  TestExa exa;
  exa.ask("hardware_profile.import", {{"sbatch", "-c8 --mem=32G"}, {"name", "a"}});
  exa.ask("hardware_profile.set",
          {{"name", "a"}, {"accelerator_family", "cpu"}, {"cpu", 8}, {"memory_gb", 32}});
  const json::value same = exa.ask("hardware_profile.diff", {{"from", "a@1"}, {"to", "a@2"}});
  EXPECT_EQ(same.at("same"), true);
}

TEST(ImportedProfile, WithoutANameNothingIsStored) {
  TestExa exa;
  const int64_t before = exa.audit_size();
  const json::value read = exa.ask("hardware_profile.import", {{"sbatch", "-c8"}});
  EXPECT_TRUE(read.at("profile").is_null());
  EXPECT_EQ(exa.audit_size(), before);
}

TEST(ImportedProfile, WhatIsSaidBesideWinsOverTheText) {
  TestExa exa;
  const json::value read =
      exa.ask("hardware_profile.import",
              {{"sbatch", "-N2 --gres=gpu:2"}, {"accelerator_family", "amd"}, {"nodes", 4}});
  EXPECT_EQ(to_text(read.at("fields")), R"({"accelerator_family":"amd","gpu_count":2,"nodes":4})");
  EXPECT_TRUE(read.at("open").as_array().empty());
}

TEST(ImportedProfile, AProblemOfAFieldStandsWhereTheTextSaysIt) {
  TestExa exa;
  const Reply reply = exa.send(build_request(
      *find_route("hardware_profile.import"),
      {{"file", "resources:\n  cpus: 8\n  accelerators: A100:5000\n"}, {"as", "skypilot"}}));
  EXPECT_EQ(reply.status, 422) << reply.body;
  EXPECT_THAT(reply.body, HasSubstr("file:3:3"));
  EXPECT_THAT(reply.body, HasSubstr("gpu_count: must be 0 to 1024, not 5000"));
}

// All of them stand in the document; headers and terminals get the first.
TEST(ImportedProfile, ManyNotesAreShownInPart) {
  TestExa exa;
  std::string text = "resources: {cpus: 8}\nrun: x\n";
  for (int i = 0; i < 30; ++i) text += fmt::format("x{}: 1\n", i);
  const Reply reply = exa.send(
      build_request(*find_route("hardware_profile.import"), {{"file", text}, {"as", "skypilot"}}));
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(json::parse(reply.body).at("notes").as_array().size(), 31U);
  ASSERT_EQ(reply.notices.size(), 21U);
  EXPECT_EQ(reply.notices.back(), "and 11 more: --json shows them all");
}

TEST(RenderedProfile, OfAnotherProjectIsCalledByIt) {
  TestExa exa;
  exa.ask("project.create", {{"name", "vision"}});
  exa.ask("hardware_profile.set", {{"name", "small"}, {"accelerator_family", "cpu"}, {"cpu", 1}});
  exa.ask("hardware_profile.share", {{"name", "small"}, {"with", json::array{"vision"}}});
  const json::value rendered =
      exa.ask("hardware_profile.render",
              {{"name", "default/small"}, {"as", "srun"}, {"project", "vision"}});
  EXPECT_EQ(rendered.at("profile"), "default/small@1");
  EXPECT_EQ(rendered.at("text"),
            "srun --job-name=small --nodes=1 --ntasks-per-node=1 --cpus-per-task=1\n");
}

}  // namespace
}  // namespace exa
