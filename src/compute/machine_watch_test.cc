#include "compute/machine_watch.h"

#include <gmock/gmock.h>

#include "base/quantity.h"
#include "compute/machines_for_test.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A machine that reports to a clock of its own.
class Watch {
 public:
  explicit Watch(MachineReport report = gpu_report("edge-1", "NVIDIA H100 80GB HBM3", 8))
      : report_(std::move(report)) {
    report_.memory_bytes = 1024 * kGiB;
    send();
  }

  Heard send() { return send(report_); }
  Heard send(MachineReport report) {
    report.reported_at = now_;
    report.sequence = ++sequence_;
    return receive(report);
  }
  Heard receive(const MachineReport& report, const std::string& source = "rack") {
    Heard heard = hear(machine_, source, report, now_, rules);
    machine_ = heard.machine;
    return heard;
  }
  void wait(Duration duration) { now_ = now_ + duration; }
  std::vector<std::string> why() const { return why_not_believed(*machine_, now_, rules); }
  const WatchedMachine& machine() const { return *machine_; }
  Time now() const { return now_; }
  MachineReport report() const { return report_; }
  void accept() { machine_ = *accept_difference(*machine_); }

  WatchRules rules;

 private:
  MachineReport report_;
  Time now_ = kTestNow;
  int64_t sequence_ = 0;
  std::optional<WatchedMachine> machine_;
};

TEST(Watch, AMachineThatReportsIsBelieved) {
  Watch watch;
  for (int i = 0; i < 20; ++i) {
    watch.wait(seconds(30));
    const Heard heard = watch.send();
    EXPECT_FALSE(heard.refused);
    EXPECT_FALSE(heard.changed);  // only the time
    EXPECT_THAT(watch.why(), IsEmpty());
  }
}

TEST(Watch, TheFirstReportIsNews) {
  const Heard heard = hear({}, "rack", cpu_report("edge-1", 4), kTestNow, {});
  EXPECT_TRUE(heard.changed);
  EXPECT_EQ(heard.machine.source, "rack");
  EXPECT_EQ(heard.machine.heard_at, kTestNow);
}

TEST(Watch, AMachineThatVanishesIsNotOffered) {
  Watch watch;
  watch.wait(seconds(90));
  EXPECT_THAT(watch.why(), IsEmpty());
  watch.wait(seconds(1));
  EXPECT_THAT(watch.why(), ElementsAre("it has not reported for 1m; 1m30s is the longest allowed"));
  EXPECT_TRUE(watch.send().changed);  // it is back
  EXPECT_THAT(watch.why(), IsEmpty());
}

TEST(Watch, AnUnhealthyMachineIsNotOfferedAndSaysWhy) {
  Watch watch;
  MachineReport report = watch.report();
  report.healthy = false;
  report.reason = "a GPU fell off the bus";
  EXPECT_TRUE(watch.send(report).changed);
  EXPECT_THAT(watch.why(), ElementsAre("it is not healthy: a GPU fell off the bus"));
}

TEST(Watch, AMachineThatFlapsIsNotOfferedUntilItIsCalm) {
  Watch watch;
  MachineReport ill = watch.report();
  ill.healthy = false;
  for (int i = 0; i < 2; ++i) {
    watch.wait(seconds(30));
    watch.send(ill);
    watch.wait(seconds(30));
    watch.send();
  }
  EXPECT_THAT(watch.why(),
              ElementsAre("it is flapping: its health changed 4 times or more within 10m"));
  for (int i = 0; i < 19; ++i) {
    watch.wait(seconds(30));
    watch.send();
  }
  EXPECT_THAT(watch.why(), IsEmpty());  // of the four, three are left within ten minutes
}

TEST(Watch, HoweverFastAMachineFlapsLittleIsKept) {
  Watch watch;
  MachineReport report = watch.report();
  for (int i = 0; i < 1'000; ++i) {
    report.healthy = !report.healthy;
    watch.wait({1'000});
    watch.send(report);
  }
  EXPECT_EQ(watch.machine().health_changes.size(), 4u);
}

TEST(Watch, AnotherNumberOfGpusIsHeldUntilSomebodyAcceptsIt) {
  Watch watch;
  MachineReport report = watch.report();
  report.gpus->front().count = 7;
  EXPECT_TRUE(watch.send(report).changed);
  EXPECT_THAT(watch.machine().differences, ElementsAre("gpus: 8 before, 7 now"));
  EXPECT_EQ(watch.machine().report.gpus->front().count, 8);
  EXPECT_THAT(watch.why(), ElementsAre(HasSubstr("gpus: 8 before, 7 now")));
  watch.accept();
  EXPECT_EQ(watch.machine().report.gpus->front().count, 7);
  EXPECT_THAT(watch.why(), IsEmpty());
  watch.wait(seconds(30));
  watch.send(report);
  EXPECT_THAT(watch.why(), IsEmpty());
}

TEST(Watch, ADifferenceDoesNotSurviveTheReturnToTheOldHardware) {
  Watch watch;
  MachineReport report = watch.report();
  report.gpus->front().count = 7;
  watch.send(report);
  watch.wait(seconds(30));
  EXPECT_TRUE(watch.send().changed);
  EXPECT_FALSE(watch.machine().differs);
  EXPECT_THAT(watch.machine().differences, IsEmpty());
  EXPECT_THAT(watch.why(), IsEmpty());
  EXPECT_EQ(accept_difference(watch.machine()).error().code, Code::conflict);
}

TEST(Watch, AMachineWhoseHardwareDiffersIsNotSilent) {
  Watch watch;
  MachineReport report = watch.report();
  report.gpus->front().count = 7;
  for (int i = 0; i < 10; ++i) {
    watch.send(report);
    watch.wait(seconds(30));
  }
  EXPECT_THAT(watch.why(), ElementsAre(HasSubstr("its hardware differs")));
}

struct Lie {
  const char* name;
  std::function<void(MachineReport&)> tell;
  std::vector<std::string> differences;
};

TEST(Watch, WhatMakesHardwareAnother) {
  for (const Lie& lie : std::vector<Lie>{
           {"family",
            [](auto& r) { r.gpus->front().family = "NVIDIA A100-SXM4-80GB"; },
            {"gpu family: NVIDIA H100 before, NVIDIA A100 now"}},
           {"spelling", [](auto& r) { r.gpus->front().family = "NVIDIA H100"; }, {}},
           {"no family",
            [](auto& r) { r.gpus->front().family = ""; },
            {"gpu family: NVIDIA H100 before, not detected now"}},
           {"no GPUs", [](auto& r) { r.gpus->clear(); }, {"gpus: 8 before, 0 now"}},
           {"GPUs undetected",
            [](auto& r) { r.gpus.reset(); },
            {"gpus: 8 before, not detected now"}},
           {"split rows",
            [](auto& r) {
              r.gpus->front().count = 4;
              r.gpus->push_back(r.gpus->front());
            },
            {}},
           {"cores", [](auto& r) { r.cpus = 32; }, {"cpus: 64 before, 32 now"}},
           {"cores undetected",
            [](auto& r) { r.cpus.reset(); },
            {"cpus: 64 before, not detected now"}},
           {"architecture",
            [](auto& r) { r.architecture = "ARM64"; },
            {"architecture: AMD64 before, ARM64 now"}},
           {"a stick of memory gone",
            [](auto& r) { r.memory_bytes = 960 * kGiB; },
            {"memory: 1 TiB before, 960 GiB now"}},
           {"what a kernel keeps", [](auto& r) { r.memory_bytes = 1020 * kGiB; }, {}},
           {"tags are the owner's", [](auto& r) { r.tags.emplace_back("rack", "7"); }, {}},
           {"more is detected", [](auto& r) { r.gpus->front().memory_bytes = 80 * kGiB; }, {}}}) {
    Watch watch;
    MachineReport report = watch.report();
    lie.tell(report);
    watch.send(report);
    EXPECT_EQ(watch.machine().differences, lie.differences) << lie.name;
    EXPECT_EQ(watch.machine().differs.has_value(), !lie.differences.empty()) << lie.name;
  }
}

TEST(Watch, AnOldReportIsNeverBelievedAndKeepsNobodyAlive) {
  Watch watch;
  const MachineReport first = watch.machine().report;
  watch.wait(seconds(30));
  watch.send();
  for (int i = 0; i < 4; ++i) {
    watch.wait(seconds(30));
    const Heard heard = watch.receive(first);
    ASSERT_TRUE(heard.refused);
    EXPECT_EQ(heard.refused->code, Code::stale);
    EXPECT_EQ(heard.changed, i == 0);  // refused once or often: the same news
  }
  EXPECT_THAT(watch.machine().refused, HasSubstr("is not newer than the last"));
  EXPECT_THAT(watch.why(), ElementsAre(HasSubstr("it has not reported for 2m")));
  EXPECT_TRUE(watch.send().changed);
  EXPECT_EQ(watch.machine().refused, "");
}

TEST(Watch, TheSameReportOnceMoreIsStaleWithAndWithoutSequences) {
  for (const int64_t sequence : {int64_t{0}, int64_t{7}}) {
    MachineReport report = cpu_report("edge-1", 4);
    report.sequence = sequence;
    const Heard first = hear({}, "rack", report, kTestNow, {});
    const Heard again = hear(first.machine, "rack", report, kTestNow + seconds(1), {});
    ASSERT_TRUE(again.refused);
    EXPECT_EQ(again.refused->code, Code::stale);
    EXPECT_EQ(again.machine.heard_at, kTestNow);
  }
}

TEST(Watch, AClockThatIsSetBackDoesNotHideAMachineThatCounts) {
  Watch watch;
  MachineReport report = watch.report();
  report.reported_at = watch.now() + seconds(-120);
  report.sequence = 1'000;
  EXPECT_FALSE(watch.receive(report).refused);
}

TEST(Watch, AReplayOfWhatWasHeldIsStaleToo) {
  Watch watch;
  MachineReport report = watch.report();
  report.gpus->front().count = 7;
  watch.wait(seconds(30));
  watch.send(report);
  const MachineReport held = *watch.machine().differs;
  EXPECT_EQ(watch.receive(held).refused->code, Code::stale);
}

TEST(Watch, AReportFromTheFutureIsRefused) {
  Watch watch;
  MachineReport report = watch.report();
  report.sequence = 1'000;
  report.reported_at = watch.now() + minutes(5);
  EXPECT_FALSE(watch.receive(report).refused);
  report.sequence = 1'001;
  report.reported_at = watch.now() + minutes(5) + Duration{1};
  const Heard heard = watch.receive(report);
  ASSERT_TRUE(heard.refused);
  EXPECT_EQ(heard.refused->code, Code::invalid_input);
  EXPECT_THAT(heard.refused->message, HasSubstr("set its clock"));
}

TEST(Watch, AReportOfLongAgoIsRefusedEvenOfAMachineThatIsNew) {
  MachineReport report = cpu_report("edge-1", 4);
  report.reported_at = kTestNow + hours(-1);
  const Heard heard = hear({}, "rack", report, kTestNow, {});
  ASSERT_TRUE(heard.refused);
  EXPECT_EQ(heard.refused->code, Code::stale);
  EXPECT_FALSE(heard.machine.heard_at);
  EXPECT_THAT(why_not_believed(heard.machine, kTestNow, {}),
              ElementsAre(HasSubstr("no report of it was believed yet")));
  // and the machine is as good as any once it reports well
  report.reported_at = kTestNow;
  EXPECT_FALSE(hear(heard.machine, "rack", report, kTestNow, {}).refused);
}

TEST(Watch, AnotherSourceDoesNotTakeAMachineOver) {
  Watch watch;
  MachineReport report = watch.report();
  report.gpus->front().count = 1;
  report.sequence = 1'000;
  const Heard heard = watch.receive(report, "elsewhere");
  ASSERT_TRUE(heard.refused);
  EXPECT_EQ(heard.refused->code, Code::conflict);
  EXPECT_EQ(watch.machine().source, "rack");
  EXPECT_EQ(watch.machine().report.gpus->front().count, 8);
  EXPECT_THAT(watch.why(), IsEmpty());
}

TEST(Watch, GarbageHarmsNothing) {
  MachineReport garbage = gpu_report("edge-1", "\x1b[2J", std::numeric_limits<int64_t>::max());
  garbage.gpus->push_back({"", std::numeric_limits<int64_t>::min(), -1});
  garbage.cpus = -1;
  garbage.reported_at = {std::numeric_limits<int64_t>::max()};
  Watch watch;
  EXPECT_TRUE(watch.receive(garbage).refused);
  garbage.reported_at = {std::numeric_limits<int64_t>::min()};
  EXPECT_TRUE(watch.receive(garbage).refused);
  watch.send(garbage);
  EXPECT_FALSE(watch.why().empty());
}

}  // namespace
}  // namespace exa
