#include "discover/host_system.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "discover/idset.h"

namespace exa {
namespace {

constexpr size_t kMaxFiles = 200;
// What cgroup v1 prints for "no limit" is the largest number of whole pages; nothing real comes
// near.
constexpr int64_t kNoMemoryLimit = int64_t{1} << 60;

Failure wrong(std::string_view path, std::string_view content) {
  return fail(Code::unreadable_output, fmt::format("cgroup: {}: cannot read '{}'", printable(path),
                                                   printable(content.substr(0, 60))));
}

void lower_to(std::optional<int64_t>& least, std::string& path_of_least, int64_t value,
              std::string_view path) {
  if (least && *least <= value) return;
  least = value;
  path_of_least = path;
}

// Quota per period in microseconds, as thousandths of a core; never rounded to none.
int64_t milli_of(int64_t quota, int64_t period) {
  return std::max<int64_t>(1, quota * 1000 / period);
}

using Values = std::map<std::string, std::string, std::less<>>;  // by path

Result<void> take_cpu_max(GroupLimits& limits, std::string_view path, std::string_view content) {
  size_t blank = content.find(' ');
  if (content.substr(0, blank) == "max") return {};
  if (blank == std::string_view::npos) return wrong(path, content);
  auto quota = parse_count(content.substr(0, blank), "quota");
  auto period = parse_count(content.substr(blank + 1), "period");
  if (!quota || !period || *period == 0 || *quota > (int64_t{1} << 50)) return wrong(path, content);
  lower_to(limits.cpu_milli, limits.cpu_path, milli_of(*quota, *period), path);
  return {};
}

Result<void> take_cfs_quota(GroupLimits& limits, const Values& all, std::string_view path,
                            std::string_view content) {
  if (content == "-1") return {};
  std::string period_path = std::string(path.substr(0, path.rfind('/'))) + "/cpu.cfs_period_us";
  auto period_text = all.find(period_path);
  if (period_text == all.end()) return wrong(period_path, "");
  auto quota = parse_count(content, "quota");
  auto period = parse_count(period_text->second, "period");
  if (!quota || !period || *period == 0 || *quota > (int64_t{1} << 50)) return wrong(path, content);
  lower_to(limits.cpu_milli, limits.cpu_path, milli_of(*quota, *period), path);
  return {};
}

Result<void> take_cpuset(GroupLimits& limits, std::string_view path, std::string_view content) {
  if (content.empty()) return {};  // inherits
  auto set = parse_idset(content, path);
  if (!set) return wrong(path, content);
  lower_to(limits.cpu_milli, limits.cpu_path, set->count() * 1000, path);
  return {};
}

Result<void> take_memory(GroupLimits& limits, std::string_view path, std::string_view content) {
  if (content == "max") return {};
  auto bytes = parse_count(content, "limit");
  if (!bytes) return wrong(path, content);
  if (*bytes < kNoMemoryLimit) lower_to(limits.memory_bytes, limits.memory_path, *bytes, path);
  return {};
}

}  // namespace

Result<int64_t> parse_cpuinfo(std::string_view text) {
  int64_t processors = 0;
  for (std::string_view line : split(text, '\n'))
    if (trim(line.substr(0, line.find(':'))) == "processor" &&
        line.find(':') != std::string_view::npos)
      ++processors;
  if (processors == 0) return fail(Code::unreadable_output, "/proc/cpuinfo: names no processor");
  return processors * 1000;
}

Result<int64_t> parse_meminfo(std::string_view text) {
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with("MemTotal:")) continue;
    std::string_view amount = trim(line.substr(9));
    if (!amount.ends_with(" kB")) break;
    auto count = parse_count(trim(amount.substr(0, amount.size() - 3)), "MemTotal");
    if (!count || *count > (int64_t{1} << 50) || *count == 0) break;
    return *count * kKiB;
  }
  return fail(Code::unreadable_output, "/proc/meminfo: has no MemTotal in kB");
}

Result<GroupLimits> parse_group_limits(std::string_view text) {
  Values values;
  for (std::string_view line : split(text, '\n')) {
    size_t equals = line.find('=');
    if (trim(line).empty()) continue;
    if (equals == std::string_view::npos || line.find('/') == std::string_view::npos)
      return wrong("line", line);
    values.emplace(line.substr(0, equals), trim(line.substr(equals + 1)));
  }
  GroupLimits limits;
  for (const auto& [path, content] : values) {
    std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
    if (file == "cpu.max") EXA_TRY(take_cpu_max(limits, path, content));
    if (file == "cpu.cfs_quota_us") EXA_TRY(take_cfs_quota(limits, values, path, content));
    if (file == "cpuset.cpus.effective" || file == "cpuset.effective_cpus")
      EXA_TRY(take_cpuset(limits, path, content));
    if (file == "memory.max" || file == "memory.limit_in_bytes")
      EXA_TRY(take_memory(limits, path, content));
  }
  return limits;
}

std::vector<std::string> group_limit_files(std::string_view proc_self_cgroup) {
  static const std::map<std::string_view, std::vector<std::string_view>> kFiles = {
      {"", {"cpu.max", "memory.max", "cpuset.cpus.effective"}},
      {"cpu", {"cpu.cfs_quota_us", "cpu.cfs_period_us"}},
      {"cpuset", {"cpuset.effective_cpus"}},
      {"memory", {"memory.limit_in_bytes"}}};
  std::vector<std::string> files;
  for (std::string_view line : split(proc_self_cgroup, '\n')) {
    size_t first = line.find(':');
    size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view group = trim(line.substr(second + 1));
    // A path that leaves its own root belongs to another namespace and is not ours to ask for.
    if (!group.starts_with('/') || group.find("..") != std::string_view::npos) continue;
    for (std::string_view controller : split(line.substr(first + 1, second - first - 1), ',')) {
      auto wanted = kFiles.find(controller);
      if (wanted == kFiles.end()) continue;
      std::string root =
          "/sys/fs/cgroup" + (controller.empty() ? "" : "/" + std::string(controller));
      for (std::string_view path = group;; path = path.substr(0, path.rfind('/'))) {
        while (path.ends_with('/')) path.remove_suffix(1);
        for (std::string_view file : wanted->second)
          if (files.size() < kMaxFiles) files.push_back(fmt::format("{}{}/{}", root, path, file));
        if (path.empty()) break;
      }
    }
  }
  return files;
}

}  // namespace exa
