#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "discover/probe.h"
#include "discover/readers.h"

namespace exa {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

std::string sample(const std::string& name) {
  std::ifstream file(std::string(EXA_TESTDATA) + "/flux/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Answer {
  std::string question;
  std::string file;
};

Capture capture_of(const std::vector<Answer>& answers) {
  Capture capture;
  capture.kind = ClusterKind::flux;
  for (const Answer& answer : answers)
    capture.outputs.push_back({answer.question, {}, 0, sample(answer.file), ""});
  return capture;
}

Capture capture_saying(std::string question, std::string text) {
  Capture capture;
  capture.outputs.push_back({std::move(question), {}, 0, std::move(text), ""});
  return capture;
}

Inventory read_well(const Capture& capture) {
  auto inventory = read_flux(capture);
  if (!inventory) {
    ADD_FAILURE() << inventory.error().message;
    return {};
  }
  return *inventory;
}

// The whole of it, as a probe of Flux 0.88 captures it.
const std::vector<Answer> kEverything = {{"flux version", "version.txt"},
                                         {"flux resource R", "R-live.json"},
                                         {"flux resource list", "resource-list-pipes.txt"},
                                         {"flux resource status", "resource-status-pipes.txt"},
                                         {"flux resource drain", "resource-drain.txt"},
                                         {"flux queue status", "queue-status.txt"},
                                         {"flux config get", "config.json"}};
const std::vector<Answer> kThreeR = {{"flux resource R", "R-live.json"},
                                     {"flux resource R -s free", "R-free.json"},
                                     {"flux resource R -s allocated", "R-allocated.json"},
                                     {"flux resource R -s down", "R-down.json"},
                                     {"flux resource status", "resource-status.txt"},
                                     {"flux resource drain", "resource-drain.txt"}};
const std::vector<Answer> kKvs = {{"flux kvs get resource.R", "kvs-resource.R.json"},
                                  {"flux resource list", "resource-list-pipes.txt"},
                                  {"flux resource status", "resource-status.txt"},
                                  {"flux config get", "config.json"}};
const std::vector<Answer> kListOnly = {{"flux resource list", "resource-list-pipes.txt"}};
const std::vector<Answer> kTableOnly = {{"flux resource list", "resource-list.txt"}};
const std::vector<Answer> kCustomTableOnly = {{"flux resource list", "resource-list-custom.txt"}};
const std::vector<Answer> kConfiguredR = {{"flux resource R", "R-configured.json"},
                                          {"flux resource list", "resource-list.txt"},
                                          {"flux config get", "config.json"}};

struct Sum {
  int64_t total = 0, used = 0, free = 0, unusable = 0;
  bool operator==(const Sum&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Sum& s) {
  return out << s.total << " total, " << s.used << " used, " << s.free << " free, " << s.unusable
             << " unusable";
}

std::map<std::string, Sum> sums(const Inventory& inventory) {
  std::map<std::string, Sum> sums;
  for (const Node& node : inventory.nodes)
    for (const CardSet& cards : node.cards)
      for (const Offer& offer : cards.offers) {
        Sum& sum = sums[cards.reported];
        sum.total += offer.units;
        sum.used += offer.used.value_or(-1000);
        if (node.usable())
          sum.free += offer.free.value_or(-1000);
        else
          sum.unusable += offer.units;
      }
  return sums;
}

int64_t cores(const Inventory& inventory) {
  int64_t sum = 0;
  for (const Node& node : inventory.nodes) sum += node.cpu_milli.value_or(-1'000'000'000) / 1000;
  return sum;
}

const Node& node(const Inventory& inventory, std::string_view name) {
  for (const Node& one : inventory.nodes)
    if (one.name == name) return one;
  ADD_FAILURE() << "no node " << name;
  static const Node none;
  return none;
}

std::vector<std::string> names(const Inventory& inventory) {
  std::vector<std::string> names;
  for (const Node& one : inventory.nodes) names.push_back(one.name);
  return names;
}

TEST(Flux, EveryWayOfAskingGivesTheRightReadingOfTheSample) {
  const std::map<std::string, Sum> right = {
      {"a100", {12, 2, 6, 4}}, {"h100", {8, 3, 5, 0}}, {"mi300x", {8, 8, 0, 0}}};
  for (const auto& [name, answers] : std::vector<std::pair<std::string, std::vector<Answer>>>{
           {"everything", kEverything},
           {"three R", kThreeR},
           {"kvs", kKvs},
           {"list", kListOnly},
           {"configured R and table", kConfiguredR}}) {
    SCOPED_TRACE(name);
    Inventory inventory = read_well(capture_of(answers));
    EXPECT_EQ(sums(inventory), right);
    EXPECT_EQ(cores(inventory), 480);
    EXPECT_THAT(names(inventory),
                ElementsAre("a100-1", "a100-2", "a100-3", "cpu-1", "gaudi-1", "h100-1", "mi300-1"));
  }
}

TEST(Flux, AWholePropertyGivesTheModelOfWhatTheTableCountsTogether) {
  Inventory inventory = read_well(capture_of(kCustomTableOnly));
  for (const char* name : {"a100-1", "a100-2"}) {
    const CardSet& cards = node(inventory, name).cards.at(0);
    EXPECT_EQ(cards.reported, "a100");
    EXPECT_EQ(cards.physical, std::nullopt);
    EXPECT_THAT(cards.offers_unread, ElementsAre(Sharing::whole));
  }
  EXPECT_EQ(node(inventory, "h100-1").cards.at(0).physical, 8);
}

TEST(Flux, APropertyThatTheTableCutOffGivesNoModel) {
  Inventory inventory = read_well(capture_of(kTableOnly));
  // a100-1 and a100-2 have eight together; how many each has is not said
  EXPECT_EQ(sums(inventory),
            (std::map<std::string, Sum>{
                {"a100", {4, 0, 0, 4}}, {"h100", {8, 3, 5, 0}}, {"mi300x", {8, 8, 0, 0}}}));
  EXPECT_THAT(inventory.unread,
              Contains(Unread{"properties of a100-1", "the table cut them off with '+'"}));
  EXPECT_THAT(node(inventory, "a100-1").cards, IsEmpty());
  EXPECT_THAT(node(inventory, "a100-1").devices_unread, Contains(Family::nvidia));
  EXPECT_THAT(node(inventory, "a100-1").features, ElementsAre("nvlink"));
}

// Eight of eight nodes may sit in one of them: an equal share would be a guess that verifies.
TEST(Flux, ASumOverSeveralNodesIsUnknownOfEachNotAGuess) {
  for (const char* sums : {"9|5", "8|4", "16|16"}) {
    Inventory inventory = read_well(capture_saying("flux resource list",
                                                   "STATE|PROPERTIES|NNODES|NCORES|NGPUS|NODELIST\n"
                                                   "free|h100|2|" +
                                                       std::string(sums) + "|n[1-2]\n"));
    const Node& n1 = node(inventory, "n1");
    EXPECT_EQ(n1.cpu_milli, std::nullopt);
    ASSERT_EQ(n1.cards.size(), 1U);
    EXPECT_EQ(n1.cards[0].physical, std::nullopt);
    EXPECT_THAT(n1.cards[0].offers, IsEmpty());
    EXPECT_THAT(n1.cards[0].offers_unread, ElementsAre(Sharing::whole));
  }
}

TEST(Flux, AValueForNotSetIsNoCount) {
  Inventory inventory = read_well(capture_saying("flux resource list",
                                                 "STATE|PROPERTIES|NNODES|NCORES|NGPUS|NODELIST\n"
                                                 "free|h100|1|8|4294967294|n1\n"));
  EXPECT_EQ(node(inventory, "n1").cards.at(0).physical, std::nullopt);
}

TEST(Flux, WithoutAPropertyTheFamilyOfASumIsOpenToo) {
  Inventory inventory = read_well(capture_saying("flux resource list",
                                                 "STATE|NNODES|NCORES|NGPUS|NODELIST\n"
                                                 "free|2|9|5|n[1-2]\n"
                                                 "free|1|8|4|m1\n"));
  EXPECT_EQ(node(inventory, "n1").cpu_milli, std::nullopt);
  EXPECT_THAT(node(inventory, "n1").cards, IsEmpty());
  EXPECT_THAT(inventory.unread, Contains(Field(&Unread::what, "gpus of n1")));
  EXPECT_EQ(node(inventory, "m1").cards[0].offers[0].units, 4);
}

TEST(Flux, StatusTellsDrainedFromLostAndExcludedStandsInNoCount) {
  Inventory inventory = read_well(capture_of(kEverything));
  EXPECT_EQ(node(inventory, "a100-3").health, Health::drained);
  EXPECT_EQ(node(inventory, "a100-3").reason, "bad NVLink");
  EXPECT_EQ(node(inventory, "gaudi-1").health, Health::not_responding);
  EXPECT_EQ(node(inventory, "gaudi-1").state, "avail*+down");
  EXPECT_EQ(node(inventory, "a100-1").health, Health::usable);
  EXPECT_EQ(inventory.tool_version, "0.88.0-59-g4a5e79f56");
}

TEST(Flux, TheListAloneCannotTellDrainedFromLost) {
  Inventory inventory = read_well(capture_of(kListOnly));
  EXPECT_EQ(node(inventory, "a100-3").health, Health::down);
  EXPECT_EQ(node(inventory, "gaudi-1").health, Health::down);
}

TEST(Flux, RAloneSaysNeitherWhatIsUsedNorWhatIsUp) {
  Inventory inventory = read_well(capture_of({{"flux resource R", "R-live.json"}}));
  const Node& first = node(inventory, "a100-1");
  EXPECT_EQ(first.health, Health::unknown);
  EXPECT_EQ(first.cards[0].offers[0].units, 4);
  EXPECT_EQ(first.cards[0].offers[0].used, std::nullopt);
  EXPECT_EQ(first.cards[0].offers[0].free, std::nullopt);
  EXPECT_EQ(first.cpu_free_milli, std::nullopt);
  EXPECT_THAT(inventory.unread, Contains(Field(&Unread::what, "flux resource status")));
}

TEST(Flux, APartlyUsedNodeIsOneNode) {
  Inventory inventory = read_well(capture_of(kListOnly));
  const Node& partly = node(inventory, "a100-1");
  EXPECT_EQ(partly.cpu_milli, 64'000);
  EXPECT_EQ(partly.cpu_free_milli, 56'000);
  EXPECT_EQ(partly.cards[0].physical, 4);
  EXPECT_EQ(partly.cards[0].offers[0], (Offer{Sharing::whole, "gpu", "", 4, 2, 2}));
  EXPECT_EQ(partly.state, "allocated+free");
}

TEST(Flux, AModelComesFromAPropertyOnly) {
  constexpr std::string_view kR =
      R"({{"version":1,"execution":{{"R_lite":[{{"rank":"0","children":{{"core":"0-7","gpu":"0-1"}}}}],)"
      R"("starttime":0.0,"expiration":0.0,"nodelist":["n1"],"properties":{{{}}}}}}})";
  struct Case {
    std::string properties, reported, model;
    Family family;
  };
  for (const Case& c :
       {Case{"", "", "", Family::other}, Case{R"("nvlink":"0")", "", "", Family::other},
        Case{R"("a100":"0")", "a100", "", Family::nvidia},
        Case{R"("mi300x":"0","big":"0")", "mi300x", "MI300X", Family::amd},
        Case{R"("a100":"0","h100":"0")", "", "", Family::other},
        Case{R"("a100":"0","A100-SXM4-80GB":"0")", "A100-SXM4-80GB", "A100-SXM4-80GB",
             Family::nvidia},
        Case{R"("a100":"1")", "", "", Family::other}}) {
    Inventory inventory =
        read_well(capture_saying("flux resource R", fmt::format(kR, c.properties)));
    const CardSet& cards = node(inventory, "n1").cards.at(0);
    EXPECT_EQ(cards.reported, c.reported) << c.properties;
    EXPECT_EQ(cards.model, c.model) << c.properties;
    EXPECT_EQ(cards.family, c.family) << c.properties;
    EXPECT_EQ(cards.physical, 2) << c.properties;
  }
}

TEST(Flux, WhatNoAnswerCountsIsUnreadAndNotNone) {
  Inventory status = read_well(capture_of({{"flux resource status", "resource-status.txt"}}));
  for (const Node& one : status.nodes) EXPECT_EQ(one.devices_unread, device_families()) << one.name;
  Inventory whole = read_well(capture_of(kEverything));
  EXPECT_THAT(node(whole, "cpu-1").devices_unread, IsEmpty());
  EXPECT_THAT(node(whole, "gaudi-1").devices_unread, ElementsAre(Family::intel_gaudi));
}

TEST(Flux, AGpuWithoutAPropertyMayBeOfAnyFamily) {
  EXPECT_FALSE(node(read_well(capture_of(kListOnly)), "h100-1").cards[0].family_unread);
  Inventory table = read_well(capture_of(kTableOnly));
  EXPECT_THAT(node(table, "a100-1").devices_unread, Contains(Family::amd));
}

TEST(Flux, AnAcceleratorThatFluxDoesNotCountIsNamedNotCounted) {
  Inventory inventory = read_well(capture_of(kEverything));
  EXPECT_THAT(node(inventory, "gaudi-1").cards, IsEmpty());
  EXPECT_THAT(inventory.unread, Contains(Field(&Unread::what, "accelerators of gaudi-1")));
}

TEST(Flux, QueuesComeFromTheRulesOfTheConfiguration) {
  Inventory inventory = read_well(capture_of(kEverything));
  EXPECT_THAT(node(inventory, "a100-3").partitions, ElementsAre("gpu"));
  EXPECT_THAT(node(inventory, "cpu-1").partitions, ElementsAre("cpu"));
  EXPECT_THAT(node(inventory, "gaudi-1").partitions, IsEmpty());
  EXPECT_THAT(node(inventory, "a100-1").features, ElementsAre("a100", "nvlink"));
  Inventory table = read_well(capture_of(
      {{"flux resource list", "resource-list.txt"}, {"flux config get", "config.json"}}));
  EXPECT_THAT(node(table, "a100-1").features, ElementsAre("a100", "nvlink"))
      << "queue gpu requires a100, so the cut column is made good";
}

TEST(Flux, AStoppedQueueStartsNothing) {
  Capture capture = capture_of(kEverything);
  for (CapturedOutput& output : capture.outputs)
    if (output.name == "flux queue status")
      output.out =
          "big: Job submission is enabled\nbig: Scheduling is stopped\n"
          "gpu: Job submission is enabled\ngpu: Scheduling is started\n";
  Inventory inventory = read_well(capture);
  EXPECT_EQ(node(inventory, "h100-1").health, Health::draining);
  EXPECT_EQ(node(inventory, "h100-1").reason, "queue big is stopped");
  EXPECT_EQ(node(inventory, "a100-1").health, Health::usable);
}

TEST(Flux, TheQueueListTellsWhatIsClosed) {
  Capture capture = capture_of(kEverything);
  capture.outputs.push_back(
      {"flux queue list",
       {},
       0,
       "QUEUE    EN ST TDEFAULT   TLIMIT     NNODES     NCORES      NGPUS\n"
       "gpu*     \x1b[31m ✗\x1b[0m  ✔      10m       2d        0-3      0-192       0-12\n"
       "big       ✔  ✔      10m       2d        0-1       0-96        0-8\n",
       ""});
  Inventory inventory = read_well(capture);
  EXPECT_EQ(node(inventory, "a100-1").reason, "queue gpu takes no jobs");
  EXPECT_EQ(node(inventory, "h100-1").health, Health::usable);
  Capture sampled = capture_of(kEverything);
  sampled.outputs.push_back({"flux queue list", {}, 0, sample("queue-list.txt"), ""});
  EXPECT_EQ(node(read_well(sampled), "a100-1").health, Health::usable);
}

TEST(Flux, SeveralBrokersOnOneMachineStayApart) {
  Inventory inventory = read_well(capture_saying(
      "flux resource R",
      R"({"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3"}}],)"
      R"("starttime":0.0,"expiration":0.0,"nodelist":["m,m"]}})"));
  EXPECT_THAT(names(inventory), ElementsAre("m#rank0", "m#rank1"));
}

TEST(Flux, WhatWasSeenAllocatedIsNeverAlsoFree) {
  auto r = [](std::string_view gpus) {
    return fmt::format(
        R"({{"version":1,"execution":{{"R_lite":[{{"rank":"0","children":{{"core":"0",)"
        R"("gpu":"{}"}}}}],"starttime":0.0,"expiration":0.0,"nodelist":["n1"]}}}})",
        gpus);
  };
  Capture capture;
  capture.outputs = {{"flux resource R", {}, 0, r("0-3"), ""},
                     {"flux resource R -s free", {}, 0, r("0-3"), ""},
                     {"flux resource R -s allocated", {}, 0, r("2-3"), ""},
                     {"flux resource R -s down",
                      {},
                      0,
                      R"({"version":1,"execution":{"R_lite":[],"nodelist":[]}})",
                      ""}};
  EXPECT_EQ(node(read_well(capture), "n1").cards[0].offers[0],
            (Offer{Sharing::whole, "gpu", "", 4, 2, 2}));
}

TEST(Flux, RowsOfNoNodesAreRead) {
  Inventory inventory = read_well(capture_saying("flux resource list",
                                                 "     STATE QUEUE NNODES NCORES NGPUS NODELIST\n"
                                                 "      free batch      1      4     0 n1\n"
                                                 " allocated            0      0     0 \n"
                                                 "      down            0      0     0 \n"));
  EXPECT_EQ(node(inventory, "n1").cpu_milli, 4000);
  EXPECT_THAT(node(inventory, "n1").partitions, ElementsAre("batch"));
}

TEST(Flux, ASumThatNoClusterHasIsRefusedBeforeItIsAddedUp) {
  for (const std::string number : {"9223372036854775807", "1099511627777"}) {
    const auto inventory =
        read_flux(capture_saying("flux resource list",
                                 "STATE NNODES NCORES NGPUS NODELIST\n"
                                 "free 1 " +
                                     number + " 0 n1\nallocated 1 " + number + " 0 n1\n"));
    ASSERT_FALSE(inventory) << number;
    EXPECT_EQ(inventory.error().code, Code::unreadable_output);
    EXPECT_THAT(inventory.error().message, HasSubstr("line 2"));
    EXPECT_THAT(inventory.error().message, HasSubstr("NCORES"));
  }
}

TEST(Flux, AReasonMayHoldBlanks) {
  Capture capture = capture_of(kListOnly);
  capture.outputs.push_back({"flux resource status",
                             {},
                             0,
                             "     STATE UP NNODES REASON                         NODELIST\n"
                             "     avail  ✔      6                                "
                             "a100-[1-2],cpu-1,gaudi-1,h100-1,mi300-1\n"
                             "  drained*  ✗      1 défaut: NVLink on two ports    a100-3\n",
                             ""});
  Inventory inventory = read_well(capture);
  EXPECT_EQ(node(inventory, "a100-3").reason, "défaut: NVLink on two ports");
  EXPECT_EQ(node(inventory, "a100-3").health, Health::drained);
  Capture drain = capture_of(kListOnly);
  drain.outputs.push_back({"flux resource drain",
                           {},
                           0,
                           "TIME         STATE    REASON                         NODELIST\n"
                           "Nov30 03:56  drained  défaut: two ports              a100-3\n",
                           ""});
  EXPECT_EQ(node(read_well(drain), "a100-3").reason, "défaut: two ports");
}

TEST(Flux, EveryRawFileIsRecognisedAsTheAnswerItIs) {
  for (const auto& [file, question] :
       std::map<std::string, std::string>{{"R-live.json", "flux resource R"},
                                          {"R-configured.json", "flux resource R"},
                                          {"kvs-resource.R.json", "flux resource R"},
                                          {"job-R.json", "flux job info R"},
                                          {"resource-list.txt", "flux resource list"},
                                          {"resource-list-custom.txt", "flux resource list"},
                                          {"resource-list-pipes.txt", "flux resource list"},
                                          {"resource-status.txt", "flux resource status"},
                                          {"resource-status-pipes.txt", "flux resource status"},
                                          {"resource-drain.txt", "flux resource drain"},
                                          {"queue-list.txt", "flux queue list"},
                                          {"queue-status.txt", "flux queue status"},
                                          {"config.json", "flux config get"},
                                          {"version.txt", "flux version"}})
    EXPECT_EQ(recognise_flux(sample(file)), question) << file;
  for (std::string file : {"jobs.txt", "jobs.json", "job-jobspec.json", "job-eventlog.jsonl"})
    EXPECT_EQ(recognise_flux(sample(file)), std::nullopt) << file;
}

TEST(Flux, WhatAJobHoldsIsNoCluster) {
  auto inventory = read_flux(capture_of({{"flux job info R", "job-R.json"}}));
  ASSERT_FALSE(inventory);
  EXPECT_EQ(inventory.error().code, Code::unreadable_output);
  EXPECT_THAT(inventory.error().message, HasSubstr("job"));
}

TEST(Flux, AShapeItDoesNotKnowIsANamedError) {
  struct Case {
    std::string question, text, place;
  };
  for (const Case& c : {
           Case{"flux resource R", "{}", "/version"},
           Case{"flux resource R", R"({"version":2,"execution":{}})", "/version"},
           Case{"flux resource R", R"({"version":1})", "R_lite"},
           Case{"flux resource R",
                R"({"version":1,"execution":{"R_lite":[{"rank":"0-2147483647",)"
                R"("children":{"core":"0"}}],"nodelist":["a"]}})",
                "/execution/R_lite/0/rank"},
           Case{"flux resource R",
                R"({"version":1,"execution":{"R_lite":[{"rank":"0","children":)"
                R"({"core":"all"}}],"nodelist":["a"]}})",
                "children/core"},
           Case{"flux resource R", R"({"version":1,"execution":{"R_lite":[],"nodelist":["a"]}})",
                "nodelist"},
           Case{"flux resource R", "not json", "flux resource R"},
           Case{"flux resource list", "STATE|NODELIST\nsleeping|a\n", "line 2"},
           Case{"flux resource list", "STATE|NNODES|NODELIST\nfree|3|a[1-2]\n", "line 2"},
           Case{"flux resource list", "STATE|COLOUR|NODELIST\nfree|red|a\n", "COLOUR"},
           Case{"flux resource list",
                "     STATE NNODES NCORES NGPUS NODELIST\n      free 1 8 0 a100-[1-2],h1+\n",
                "line 2"},
           Case{"flux resource list",
                "     STATE NNODES NCORES NGPUS NODELIST\n      free 1 n/a 0 a1\n", "line 2"},
           Case{"flux resource list",
                "STATE|NNODES|NGPUS|LIST|NODELIST\nfree|1|0|rank[0-3]/gpu0|a\n", "line 2"},
           Case{"flux resource status", "STATE|NNODES|NODELIST\nasleep|1|a\n", "asleep"},
           Case{"flux resource list", "", "empty"},
       }) {
    auto inventory = read_flux(capture_saying(c.question, c.text));
    ASSERT_FALSE(inventory) << c.text;
    EXPECT_EQ(inventory.error().code, Code::unreadable_output) << c.text;
    EXPECT_THAT(inventory.error().message, HasSubstr(c.place)) << c.text;
    EXPECT_THAT(inventory.error().message, HasSubstr("flux ")) << c.text;
  }
}

TEST(Flux, AnAnswerThatFailedIsNamedAndTheRestIsRead) {
  Capture capture = capture_of(kListOnly);
  capture.outputs.push_back({"flux resource R",
                             {"flux", "resource", "R"},
                             1,
                             "",
                             "flux-resource: ERROR: unknown command\nusage: …"});
  Inventory inventory = read_well(capture);
  EXPECT_EQ(inventory.nodes.size(), 7U);
  EXPECT_THAT(inventory.unread,
              Contains(Unread{"flux resource R", "exit 1: flux-resource: ERROR: unknown command"}));
}

// A flux that answers from a table.
class FakeFlux : public Transport {
 public:
  std::map<std::vector<std::string>, Finished> answers;
  bool installed = true;
  std::vector<std::vector<std::string>> asked;

  Result<Finished> run(const std::vector<std::string>& argv) override {
    asked.push_back(argv);
    if (!installed) return fail(Code::not_found, "no such program");
    auto found = answers.find(argv);
    if (found == answers.end()) return Finished{1, "", "flux: unknown command"};
    return found->second;
  }
  Result<std::string> read_file(const std::string&) override {
    return fail(Code::not_found, "no file");
  }
  Result<std::vector<std::string>> list_folder(const std::string&) override {
    return fail(Code::not_found, "no folder");
  }
  std::string describe() const override { return "fake"; }
};

TEST(FluxProbe, AnOlderFluxIsAskedInItsOwnWords) {
  FakeFlux flux;
  flux.answers[{"flux", "kvs", "get", "resource.R"}] = {0, sample("kvs-resource.R.json"), ""};
  flux.answers[{"flux", "resource", "list"}] = {0, sample("resource-list.txt"), ""};
  flux.answers[{"flux", "resource", "status"}] = {0, sample("resource-status.txt"), ""};
  auto capture = probe_flux({}, flux, Time{7});
  ASSERT_TRUE(capture) << capture.error().message;
  EXPECT_EQ(capture->taken_at, Time{7});
  EXPECT_EQ(sums(read_well(*capture)).at("a100"), (Sum{12, 2, 6, 4}));
}

TEST(FluxProbe, AsksOnlyReadingQuestions) {
  FakeFlux flux;
  EXPECT_FALSE(probe_flux({}, flux, {}));
  for (const std::vector<std::string>& argv : flux.asked) {
    ASSERT_GE(argv.size(), 2U);
    EXPECT_THAT((std::vector<std::string>{"version", "resource", "queue", "config", "kvs"}),
                Contains(argv[1]));
    EXPECT_THAT(argv, testing::Not(Contains(
                          testing::AnyOf("undrain", "stop", "start", "load", "reload", "put"))));
  }
}

TEST(FluxProbe, SaysWhyItFailed) {
  FakeFlux flux;
  flux.answers[{"flux", "resource", "R"}] = {1, "",
                                             "flux-resource: ERROR: Unable to connect to Flux"};
  auto capture = probe_flux({}, flux, {});
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, Code::probe_failed);
  EXPECT_THAT(capture.error().message, HasSubstr("Unable to connect"));
  flux.installed = false;
  auto missing = probe_flux({}, flux, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::probe_failed);
  EXPECT_THAT(missing.error().message, HasSubstr("not installed"));
}

TEST(Flux, NoCutOfAnAnswerMakesItCountMore) {
  for (const Answer& answer : {kEverything[1], kEverything[2], kTableOnly[0]}) {
    std::string whole = sample(answer.file);
    for (size_t length = 0; length < whole.size(); ++length) {
      auto inventory = read_flux(capture_saying(answer.question, whole.substr(0, length)));
      if (!inventory) continue;
      int64_t gpus = 0;
      for (const auto& [model, sum] : sums(*inventory)) gpus += sum.total;
      EXPECT_LE(gpus, 28) << answer.file << " cut at " << length;
    }
  }
}

}  // namespace
}  // namespace exa
