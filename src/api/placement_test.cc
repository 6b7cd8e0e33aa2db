// The heterogeneous-hardware document's transcripts, with its pools registered as there and in that
// order, and semantics §5, through the router as the command line goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kUnresolvable = 6;
constexpr int kBlocked = 7;

class Placing : public testing::Test {
 protected:
  void add(const json::object& pool) { exa.ask("pool.add", pool); }

  void add_the_documents_pools() {
    add({{"name", "hpc-nvidia"},
         {"target", "hpc"},
         {"accelerator", "nvidia"},
         {"count", 8},
         {"region", "eu"},
         {"cost_per_hour", 2.5},
         {"carbon_factor", 300},
         {"supports_fractions", true}});
    add({{"name", "hpc-mi300"},
         {"target", "hpc"},
         {"accelerator", "amd"},
         {"count", 4},
         {"region", "eu"}});
    add({{"name", "cloud-a100"},
         {"target", "cloud"},
         {"accelerator", "nvidia"},
         {"count", 100},
         {"region", "us"}});
  }

  // The decision's document and the exit code of the command.
  struct Decided {
    json::value body;
    int exit_code = 0;
    std::string text() const { return std::string(text_or(body, "text", "")); }
    std::string pool() const {
      const json::value* placement = find(body, "placement");
      return placement == nullptr || !placement->is_object()
                 ? ""
                 : std::string(text_or(*placement, "pool", ""));
    }
    std::string refused_as() const {
      const json::value* rejection = find(body, "rejection");
      return rejection == nullptr || !rejection->is_object()
                 ? ""
                 : std::string(text_or(*rejection, "kind", ""));
    }
  };
  Decided decide(std::string_view route, json::object args) {
    if (!args.contains("name")) args["name"] = "train";
    const Reply reply = exa.call(route, args);
    EXPECT_EQ(reply.status, 201) << reply.body;
    return {parse_json(reply.body, "reply").value(), reply.exit_code};
  }
  Decided place(json::object args) { return decide("placement.place", std::move(args)); }
  Decided burst(json::object args) { return decide("placement.burst", std::move(args)); }

  json::array items(std::string_view route, const json::object& args = {}) {
    return exa.ask(route, args).at("items").as_array();
  }

  TestExa exa;
};

// --- the document

TEST_F(Placing, ACudaOnlyEngineIsNeverPlacedOnAmd) {
  add_the_documents_pools();
  const Decided decided = place({{"accelerator", "amd"}, {"engine", "sglang"}});
  EXPECT_EQ(decided.text(),
            "✗ Rejected: engine 'sglang' cannot run on amd (needs backend rocm; supports "
            "('cuda',))");
  EXPECT_EQ(decided.exit_code, kUnresolvable);
}

TEST_F(Placing, AnUnavailableAcceleratorFallsBackAndSaysSo) {
  add_the_documents_pools();
  const Decided decided = place({{"accelerator", "tpu"}, {"engine", "generic"}, {"target", "hpc"}});
  EXPECT_EQ(decided.text(),
            "✓ train → pool hpc-mi300 · amd on hpc (fallback)\n"
            "  requested tpu unavailable — fell back to amd");
  EXPECT_EQ(decided.body.at("decision"), "fallback");
}

TEST_F(Placing, BurstingWhereDataMayNotGoIsBlockedAndAudited) {
  add_the_documents_pools();
  const int64_t before = exa.audit_size();
  const Decided decided =
      burst({{"accelerator", "nvidia"}, {"residency", "eu-only"}, {"allow_burst", true}});
  EXPECT_EQ(decided.text(),
            "⚠ Burst blocked: data-residency eu-only forbids egress to region 'us'");
  EXPECT_EQ(decided.exit_code, kBlocked);
  EXPECT_EQ(exa.audit_size(), before + 1);
  const json::array events = items("placement.bursts");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].at("allowed"), false);
  EXPECT_EQ(events[0].at("pool"), "cloud-a100");
  EXPECT_EQ(events[0].at("region"), "us");
  const json::value entry = items("audit.list", {{"limit", 1}})[0];
  EXPECT_THAT(to_text(entry), HasSubstr("exa-hardware"));
  EXPECT_THAT(to_text(entry), HasSubstr("cloud-a100"));
}

TEST_F(Placing, PoolsAreListedCheapestFirst) {
  add_the_documents_pools();
  std::vector<std::string> names;
  for (const json::value& pool : items("pool.list"))
    names.emplace_back(pool.at("name").as_string());
  EXPECT_THAT(names, ElementsAre("hpc-mi300", "hpc-nvidia", "cloud-a100"));
}

TEST_F(Placing, AFractionOfADeviceThatCannotBeCutIsAWholeOne) {
  add_the_documents_pools();
  const Decided decided = place({{"accelerator", "amd"}, {"fraction", 0.5}, {"no_fallback", true}});
  EXPECT_EQ(decided.body.at("placement").at("fraction_honored"), false);
  EXPECT_EQ(decided.body.at("placement").at("held_fraction"), 1);
  const Decided nvidia = place({{"accelerator", "nvidia"}, {"fraction", 0.5}, {"target", "hpc"}});
  EXPECT_EQ(nvidia.body.at("placement").at("fraction_honored"), true);
  EXPECT_EQ(nvidia.body.at("placement").at("held_fraction"), 0.5);
}

// --- burst events, policy, residency

TEST_F(Placing, BurstingIsOptIn) {
  add_the_documents_pools();
  EXPECT_EQ(burst({{"residency", "open"}}).exit_code, kBlocked);
  EXPECT_EQ(burst({{"residency", "open"}, {"allow_burst", true}}).exit_code, 0);
}

struct ClassCase {
  const char* residency;
  const char* region;
  bool allowed;
};

class BurstClasses : public Placing, public testing::WithParamInterface<ClassCase> {};

TEST_P(BurstClasses, GoWhereTheyMay) {
  add({{"name", "away"},
       {"target", "cloud"},
       {"accelerator", "nvidia"},
       {"count", 8},
       {"region", GetParam().region},
       {"cost_per_hour", 1}});
  const Decided decided = burst({{"residency", GetParam().residency}, {"allow_burst", true}});
  EXPECT_EQ(decided.exit_code, GetParam().allowed ? 0 : kBlocked) << decided.text();
  EXPECT_EQ(items("placement.bursts").at(0).at("allowed"), GetParam().allowed);
  EXPECT_EQ(items("placement.bursts").at(0).at("region"), GetParam().region);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BurstClasses,
    testing::Values(ClassCase{"open", "us", true}, ClassCase{"open", "eu-west-1", true},
                    ClassCase{"open", "atlantis-1", false}, ClassCase{"eu-only", "eu", true},
                    ClassCase{"eu-only", "eu-west-1", true},
                    ClassCase{"eu-only", "eu-west-2", false},     // London
                    ClassCase{"eu-only", "eu-central-2", false},  // Zurich
                    ClassCase{"eu-only", "us-east-1", false}, ClassCase{"no-egress", "eu", false},
                    ClassCase{"restricted", "eu", false}, ClassCase{"secret", "eu", false}));

TEST_F(Placing, EuOnlyNeverLandsOutsideWhicheverPoolIsEmptyOrCheapest) {
  add({{"name", "here"},
       {"accelerator", "nvidia"},
       {"count", 1},
       {"region", "eu"},
       {"cost_per_hour", 9}});
  add({{"name", "there"},
       {"accelerator", "nvidia"},
       {"count", 9},
       {"region", "us"},
       {"cost_per_hour", 0.1}});
  add({{"name", "london"},
       {"target", "cloud"},
       {"accelerator", "nvidia"},
       {"count", 9},
       {"region", "eu-west-2"},
       {"cost_per_hour", 0.1}});
  EXPECT_EQ(place({{"residency", "eu-only"}, {"reserve", true}}).pool(), "here");
  const Decided second = place({{"residency", "eu-only"}, {"reserve", true}});
  EXPECT_EQ(second.pool(), "");
  EXPECT_EQ(second.body.at("lease"), nullptr);
  EXPECT_EQ(place({{"residency", "open"}}).pool(), "london");  // as cheap, and first by name
}

TEST_F(Placing, TheStrictestOfProjectDatasetAndWorkloadCounts) {
  add_the_documents_pools();
  exa.ask("project.residency", {{"name", "default"}, {"class", "eu-only"}});
  const json::object open{{"residency", "open"}, {"allow_burst", true}};
  EXPECT_EQ(burst(open).exit_code, kBlocked);
  exa.ask("project.residency", {{"name", "default"}, {"none", true}});
  EXPECT_EQ(burst(open).exit_code, 0);
  EXPECT_EQ(
      burst({{"residency", "open"}, {"allow_burst", true}, {"dataset_residency", "no-egress"}})
          .exit_code,
      kBlocked);
}

TEST_F(Placing, AnAdminCanSayWhereARegionLies) {
  add({{"name", "basement"},
       {"target", "cloud"},
       {"accelerator", "nvidia"},
       {"count", 1},
       {"region", "basement-1"}});
  const json::object ask{{"residency", "eu-only"}, {"allow_burst", true}};
  EXPECT_EQ(burst(ask).exit_code, kBlocked);
  exa.ask("region.set", {{"region", "basement-1"}, {"jurisdiction", "eu"}});
  EXPECT_EQ(burst(ask).exit_code, 0);
  exa.ask("region.unset", {{"region", "basement-1"}});
  EXPECT_EQ(burst(ask).exit_code, kBlocked);
}

TEST_F(Placing, APolicyNarrowsAndIsCountedInRevisions) {
  add_the_documents_pools();
  const json::object open{{"residency", "open"}, {"allow_burst", true}};
  EXPECT_EQ(exa.ask("burst_policy.set", {{"narrow", json::array{"open=eu|uk"}}}).at("revision"), 1);
  EXPECT_EQ(burst(open).exit_code, kBlocked);
  EXPECT_EQ(exa.ask("burst_policy.set", {{"widen", true}}).at("revision"), 2);
  EXPECT_EQ(burst(open).exit_code, 0);
  exa.ask("burst_policy.set", {{"cloud", "off"}});
  EXPECT_EQ(burst(open).exit_code, kBlocked);
  EXPECT_EQ(place({{"target", "cloud"}}).exit_code, kBlocked);
}

TEST_F(Placing, AnAllowedBurstCarriesASingleUsePermit) {
  add_the_documents_pools();
  const Decided decided = burst({{"residency", "open"}, {"allow_burst", true}});
  const json::value permit = decided.body.at("permit");
  EXPECT_EQ(permit.at("pool"), "cloud-a100");
  EXPECT_EQ(permit.at("region"), "us");
  EXPECT_EQ(place({{"target", "hpc"}}).body.at("permit"), nullptr);
}

// --- capacity is real

TEST_F(Placing, WithoutReserveADecisionIsAdvice) {
  add_the_documents_pools();
  const Reply reply = exa.call("placement.place", {{"name", "train"}});
  EXPECT_THAT(reply.notices, ElementsAre(HasSubstr("advice")));
  EXPECT_EQ(parse_json(reply.body, "reply")->at("advice"), true);
  EXPECT_THAT(items("lease.list"), IsEmpty());
}

TEST_F(Placing, ALeaseTakesDevicesUntilItIsReleasedOrExpires) {
  add({{"name", "two"}, {"accelerator", "nvidia"}, {"count", 2}});
  const Decided first = place({{"gpus", 2}, {"reserve", true}, {"ttl", "10m"}});
  EXPECT_EQ(first.pool(), "two");
  EXPECT_EQ(place({{"gpus", 1}}).refused_as(), "busy");
  exa.now = {exa.now.micros + minutes(10).micros};
  EXPECT_EQ(place({{"gpus", 1}}).pool(), "two");
  const Decided second = place({{"gpus", 2}, {"reserve", true}});
  const std::string id(second.body.at("lease").at("id").as_string());
  exa.ask("lease.release", {{"id", id}});
  exa.ask("lease.release", {{"id", id}});  // once more is no error
  EXPECT_EQ(place({{"gpus", 2}}).pool(), "two");
  EXPECT_THAT(items("lease.list"), IsEmpty());
  EXPECT_EQ(items("lease.list", {{"all", true}}).size(), 2U);
}

TEST_F(Placing, ALeaseThatEndedIsNotRenewed) {
  add({{"name", "one"}, {"accelerator", "nvidia"}, {"count", 1}});
  const Decided held = place({{"reserve", true}, {"ttl", "10m"}});
  const std::string id(held.body.at("lease").at("id").as_string());
  exa.ask("lease.renew", {{"id", id}, {"ttl", "1h"}});
  exa.now = {exa.now.micros + minutes(30).micros};
  EXPECT_EQ(place({}).refused_as(), "busy");
  exa.now = {exa.now.micros + minutes(31).micros};
  EXPECT_EQ(exa.call("lease.renew", {{"id", id}}).status, 409);
}

TEST_F(Placing, SharesOfOneDeviceArePackedTogether) {
  add({{"name", "cut"}, {"accelerator", "nvidia"}, {"count", 2}, {"supports_fractions", true}});
  for (const double fraction : {0.5, 0.5})
    EXPECT_EQ(place({{"fraction", fraction}, {"reserve", true}}).pool(), "cut");
  EXPECT_EQ(exa.ask("pool.show", {{"name", "cut"}}).at("free"), 1);
  EXPECT_EQ(place({{"gpus", 1}, {"reserve", true}}).pool(), "cut");
  EXPECT_EQ(place({{"fraction", 0.1}}).refused_as(), "busy");
}

TEST_F(Placing, HistoryKeepsThePriceItWasDecidedAt) {
  add_the_documents_pools();
  const Decided decided = place({{"target", "hpc"}, {"no_fallback", true}});
  add({{"name", "hpc-nvidia"}, {"cost_per_hour", 99}});
  const json::value shown =
      exa.ask("placement.decision", {{"id", std::string(decided.body.at("id").as_string())}});
  EXPECT_EQ(shown.at("placement").at("cost_per_hour"), 2.5);
  EXPECT_EQ(shown.at("candidates").as_array().size(), 3U);
}

TEST_F(Placing, TheThreeRefusalsAreToldApart) {
  add({{"name", "small"}, {"accelerator", "nvidia"}, {"count", 2}});
  EXPECT_EQ(place({{"gpus", 3}, {"no_fallback", true}}).refused_as(), "impossible");
  place({{"gpus", 2}, {"reserve", true}});
  EXPECT_EQ(place({{"gpus", 1}, {"no_fallback", true}}).refused_as(), "busy");
  exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
  add({{"name", "seen"}, {"accelerator", "amd"}, {"cluster", "hpc"}});
  EXPECT_EQ(place({{"accelerator", "amd"}, {"no_fallback", true}}).refused_as(), "not-seen");
}

// --- pools

TEST_F(Placing, AddingAPoolAgainChangesOnlyWhatIsGiven) {
  add_the_documents_pools();
  const json::value changed = exa.ask("pool.add", {{"name", "hpc-nvidia"}, {"count", 16}});
  EXPECT_EQ(changed.at("count"), 16);
  EXPECT_EQ(changed.at("cost_per_hour"), 2.5);
  EXPECT_EQ(changed.at("region"), "eu");
}

TEST_F(Placing, ADrainedPoolTakesNothingNew) {
  add({{"name", "one"}, {"accelerator", "nvidia"}, {"count", 4}});
  place({{"reserve", true}});
  exa.ask("pool.drain", {{"name", "one"}, {"reason", "new cooling"}});
  const Decided refused = place({});
  EXPECT_EQ(refused.exit_code, kUnresolvable);
  EXPECT_THAT(refused.text(), HasSubstr("new cooling"));
  exa.ask("pool.drain", {{"name", "one"}, {"undo", true}});
  EXPECT_EQ(place({}).pool(), "one");
}

TEST_F(Placing, APoolWithLeasesIsNotRemovedUnforced) {
  add({{"name", "one"}, {"accelerator", "nvidia"}, {"count", 4}});
  place({{"reserve", true}});
  EXPECT_EQ(exa.call("pool.remove", {{"name", "one"}}).exit_code, 5);
  EXPECT_LT(exa.call("pool.remove", {{"name", "one"}, {"force", true}, {"reason", "sold"}}).status,
            300);
  EXPECT_THAT(items("pool.list"), IsEmpty());
}

TEST_F(Placing, APoolBackedByAClusterCountsWhatWasSeen) {
  exa.ask("cluster.add", {{"name", "hpc"}, {"kind", "slurm"}});
  exa.ask("cluster.discover",
          {{"name", "hpc"}, {"from", read_test_file("slurm/scontrol-show-node.txt")}});
  add({{"name", "mi300"}, {"accelerator", "amd"}, {"cluster", "hpc"}});
  const json::value pool = exa.ask("pool.show", {{"name", "mi300"}});
  EXPECT_EQ(pool.at("total"), 8);
  EXPECT_EQ(pool.at("free"), 0);  // all in use, says Slurm
  EXPECT_EQ(pool.at("declared"), false);
  EXPECT_EQ(place({{"accelerator", "amd"}, {"no_fallback", true}}).refused_as(), "busy");
  exa.now = {exa.now.micros + hours(1).micros};
  EXPECT_EQ(place({{"accelerator", "amd"}, {"no_fallback", true}}).refused_as(), "not-seen");
}

TEST_F(Placing, AProfileFillsWhatIsNotGiven) {
  add_the_documents_pools();
  exa.ask("hardware_profile.set",
          {{"name", "eight"}, {"accelerator_family", "nvidia"}, {"gpu_count", 8}, {"cpu", 8}});
  const Decided decided = place({{"hardware_profile", "eight"}, {"target", "hpc"}});
  EXPECT_EQ(decided.body.at("workload").at("gpus"), 8);
  EXPECT_EQ(decided.body.at("workload").at("hardware_profile"), "eight@1");
  EXPECT_EQ(place({{"hardware_profile", "eight"}, {"gpus", 2}}).body.at("workload").at("gpus"), 2);
}

// --- bad input, and what the log says

TEST_F(Placing, EverythingWrongIsSaidAtOnce) {
  add_the_documents_pools();
  const Reply reply = exa.call(
      "placement.place",
      {{"name", "train"}, {"gpus", 0}, {"fraction", "3.0"}, {"engine", "vlm"}, {"cpu", "NaN"}});
  EXPECT_EQ(reply.exit_code, 2);
  for (const char* said : {"gpus", "fraction", "vllm", "cpu"})
    EXPECT_THAT(reply.body, HasSubstr(said));
}

TEST_F(Placing, WhatIsChangedBehindTheLogIsFound) {
  add_the_documents_pools();
  place({{"reserve", true}});
  const json::value verdict = exa.ask("audit.verify", {});
  EXPECT_EQ(verdict.at("ok"), true) << to_text(verdict);
}

TEST_F(Placing, ADryRunKeepsNothing) {
  add_the_documents_pools();
  const int64_t before = exa.audit_size();
  burst({{"residency", "open"}, {"allow_burst", true}, {"dry_run", true}, {"reserve", true}});
  EXPECT_EQ(exa.audit_size(), before);
  EXPECT_THAT(items("placement.bursts"), IsEmpty());
  EXPECT_THAT(items("placement.decisions"), IsEmpty());
  EXPECT_THAT(items("lease.list"), IsEmpty());
}

}  // namespace
}  // namespace exa
