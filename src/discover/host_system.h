// Processors and memory of one machine, and what a control group leaves of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace exa {

Result<int64_t> parse_cpuinfo(
    std::string_view text);  // logical processors, in thousandths of a core
Result<int64_t> parse_meminfo(std::string_view text);  // MemTotal in bytes

// The smallest limit of a list of `PATH=content` lines: cpu.max, cpu.cfs_quota_us with
// cpu.cfs_period_us, cpuset.cpus.effective and their v1 kin; memory.max, memory.limit_in_bytes.
struct GroupLimits {
  std::optional<int64_t> cpu_milli;
  std::string cpu_path;  // the file that sets it
  std::optional<int64_t> memory_bytes;
  std::string memory_path;
};
Result<GroupLimits> parse_group_limits(std::string_view text);

// The files to ask for, from /proc/self/cgroup: of its own group and of every group above it, since
// each of them limits. Both versions; at most 200 files.
std::vector<std::string> group_limit_files(std::string_view proc_self_cgroup);

}  // namespace exa
