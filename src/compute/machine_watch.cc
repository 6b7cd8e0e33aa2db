#include "compute/machine_watch.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/plural.h"
#include "base/quantity.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr std::string_view kNotDetected = "not detected";

const MachineReport& newest(const WatchedMachine& machine) {
  return machine.differs ? *machine.differs : machine.report;
}

bool is_older_or_same(const MachineReport& report, const MachineReport& last) {
  if (report.sequence > 0 && last.sequence > 0) return report.sequence <= last.sequence;
  return report.reported_at <= last.reported_at;
}

std::string order_of(const MachineReport& report) {
  const std::string at = format_rfc3339(report.reported_at);
  return report.sequence > 0 ? fmt::format("number {} of {}", report.sequence, at) : at;
}

// --- why a report is refused

std::optional<Error> refusal(const std::optional<WatchedMachine>& before, const std::string& source,
                             const MachineReport& report, Time now, const WatchRules& rules) {
  if (before && before->source != source)
    return Error{Code::conflict,
                 fmt::format("source {} reports machine {}, which is reported by source {}",
                             printable(source), report.id, printable(before->source)),
                 {},
                 "",
                 {}};
  if (report.reported_at > now + rules.max_skew)
    return Error{Code::invalid_input,
                 fmt::format("the report of machine {} is dated {}, which is yet to come: set its "
                             "clock",
                             report.id, format_rfc3339(report.reported_at)),
                 {},
                 "",
                 {}};
  if (report.reported_at + rules.max_skew + rules.max_age < now)
    return Error{Code::stale,
                 fmt::format("the report of machine {} is dated {}, which is too long ago: send a "
                             "new one, or set its clock",
                             report.id, format_rfc3339(report.reported_at)),
                 {},
                 "",
                 {}};
  if (before && before->heard_at && is_older_or_same(report, newest(*before)))
    return Error{Code::stale,
                 fmt::format("the report of machine {} ({}) is not newer than the last ({})",
                             report.id, order_of(report), order_of(newest(*before))),
                 {},
                 "",
                 {}};
  return std::nullopt;
}

// --- what differs

std::string shown(const std::optional<int64_t>& number) {
  return number ? std::to_string(*number) : std::string(kNotDetected);
}

std::string shown_bytes(const std::optional<int64_t>& bytes) {
  return bytes ? format_bytes(*bytes) : std::string(kNotDetected);
}

bool is_same_memory(int64_t a, int64_t b) {
  return std::min(a, b) >= std::max(a, b) / 100 * 97;
}

struct GpuSum {
  std::optional<int64_t> count;
  std::string families;  // "NVIDIA H100"; empty: not detected
  std::optional<int64_t> memory_bytes;
};

GpuSum sum_of(const MachineReport& report) {
  GpuSum sum;
  if (!report.gpus) return sum;
  sum.count = 0;
  std::vector<std::string> families;
  for (const GpuReport& gpu : *report.gpus) {
    if (gpu.count == 0) continue;
    *sum.count += std::clamp<int64_t>(gpu.count, -kMostGpus, int64_t{1} << 40);
    const GpuFamily family = gpu_family(gpu.family);
    if (!family.empty()) families.push_back(family.shown);
    if (gpu.memory_bytes)
      sum.memory_bytes = std::min(sum.memory_bytes.value_or(*gpu.memory_bytes), *gpu.memory_bytes);
  }
  std::ranges::sort(families);
  families.erase(std::unique(families.begin(), families.end()), families.end());
  sum.families = join(families, ", ");
  return sum;
}

class Comparison {
 public:
  void text(std::string_view what, const std::string& before, const std::string& after) {
    if (before.empty() || before == after) return;
    say(what, before, after.empty() ? std::string(kNotDetected) : after);
  }
  void number(std::string_view what, std::optional<int64_t> before, std::optional<int64_t> after) {
    if (before && before != after) say(what, shown(before), shown(after));
  }
  void memory(std::string_view what, std::optional<int64_t> before, std::optional<int64_t> after) {
    if (before && !(after && is_same_memory(*before, *after)))
      say(what, shown_bytes(before), shown_bytes(after));
  }
  std::vector<std::string> take() { return std::move(differences_); }

 private:
  void say(std::string_view what, std::string_view before, std::string_view after) {
    differences_.push_back(fmt::format("{}: {} before, {} now", what, before, after));
  }
  std::vector<std::string> differences_;
};

std::vector<std::string> differences_of(const MachineReport& before, const MachineReport& after) {
  const GpuSum old = sum_of(before);
  const GpuSum now = sum_of(after);
  Comparison compare;
  compare.text("architecture", before.architecture, after.architecture);
  compare.number("cpus", before.cpus, after.cpus);
  compare.memory("memory", before.memory_bytes, after.memory_bytes);
  compare.number("gpus", old.count, now.count);
  // where the GPUs are gone, one line says so
  if (now.count.value_or(0) > 0) {
    compare.text("gpu family", old.families, now.families);
    compare.memory("gpu memory", old.memory_bytes, now.memory_bytes);
  }
  return compare.take();
}

// --- health

void drop_old(std::vector<Time>& changes, Time now, const WatchRules& rules) {
  std::erase_if(changes, [&](Time at) { return at + rules.flapping_window < now; });
  // more than make it flapping need not be kept, however fast a machine flaps
  const auto most = static_cast<size_t>(std::max(rules.flapping_changes, 1));
  if (changes.size() > most)
    changes.erase(changes.begin(), changes.end() - static_cast<std::ptrdiff_t>(most));
}

int64_t changes_within(const WatchedMachine& machine, Time now, const WatchRules& rules) {
  return std::ranges::count_if(machine.health_changes,
                               [&](Time at) { return at + rules.flapping_window >= now; });
}

WatchedMachine believed(WatchedMachine machine, const MachineReport& report, Time now,
                        const WatchRules& rules) {
  const bool is_first = !machine.heard_at;
  if (!is_first && newest(machine).healthy != report.healthy) machine.health_changes.push_back(now);
  drop_old(machine.health_changes, now, rules);
  machine.differences =
      is_first ? std::vector<std::string>{} : differences_of(machine.report, report);
  if (machine.differences.empty()) {
    machine.report = report;
    machine.differs.reset();
  } else {
    machine.differs = report;
  }
  machine.heard_at = now;
  machine.refused.clear();
  machine.refused_at = {};
  return machine;
}

// Time and number of a report are no news.
MachineReport undated(MachineReport report) {
  report.reported_at = {};
  report.sequence = 0;
  return report;
}

bool is_news(const std::optional<WatchedMachine>& before, const WatchedMachine& after, Time now,
             const WatchRules& rules) {
  if (!before) return true;
  return undated(before->report) != undated(after.report) ||
         before->differs.has_value() != after.differs.has_value() ||
         before->differences != after.differences ||
         undated(newest(*before)) != undated(newest(after)) ||
         before->refused.empty() != after.refused.empty() ||
         why_not_believed(*before, now, rules) != why_not_believed(after, now, rules);
}

}  // namespace

Heard hear(const std::optional<WatchedMachine>& before, const std::string& source,
           const MachineReport& report, Time now, const WatchRules& rules) {
  EXA_ASSERT(!before || before->report.id == report.id);
  Heard heard;
  if (before) {
    heard.machine = *before;
  } else {
    heard.machine.source = source;
    heard.machine.report.id = report.id;
  }
  heard.refused = refusal(before, source, report, now, rules);
  if (heard.refused) {
    heard.machine.refused = heard.refused->message;
    heard.machine.refused_at = now;
  } else {
    heard.machine = believed(std::move(heard.machine), report, now, rules);
  }
  heard.changed = is_news(before, heard.machine, now, rules);
  return heard;
}

Result<WatchedMachine> accept_difference(WatchedMachine machine) {
  if (!machine.differs)
    return fail(Code::conflict,
                fmt::format("machine {} has nothing to accept: its last report is as before",
                            machine.report.id));
  machine.report = std::move(*machine.differs);
  machine.differs.reset();
  machine.differences.clear();
  return machine;
}

std::vector<std::string> why_not_believed(const WatchedMachine& machine, Time now,
                                          const WatchRules& rules) {
  std::vector<std::string> reasons;
  if (!machine.heard_at) {
    reasons.push_back(fmt::format("no report of it was believed yet: {}", machine.refused));
    return reasons;
  }
  const MachineReport& last = newest(machine);
  if (!last.healthy)
    reasons.push_back(last.reason.empty() ? "it is not healthy, and its report does not say why"
                                          : fmt::format("it is not healthy: {}", last.reason));
  const Duration age = now - *machine.heard_at;
  if (age > rules.max_age)
    reasons.push_back(fmt::format("it has not reported for {}; {} is the longest allowed",
                                  format_age(age), format_duration(rules.max_age)));
  if (const int64_t changes = changes_within(machine, now, rules);
      rules.flapping_changes > 0 && changes >= rules.flapping_changes)
    reasons.push_back(fmt::format("it is flapping: its health changed {} times or more within {}",
                                  rules.flapping_changes, format_duration(rules.flapping_window)));
  if (machine.differs)
    reasons.push_back(
        fmt::format("its hardware differs from what was believed ({}): accept it, or "
                    "repair the machine",
                    join(machine.differences, "; ")));
  return reasons;
}

}  // namespace exa
