// Traces of nodes and asks as CSV, in the format of the openb trace (Alibaba, 2023): see
// testdata/openb/README.md for the columns. Strict and pure: text in, values or every broken row
// with its line number out. Amounts become thousandths and bytes; nothing is rounded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "place/device_ask.h"
#include "place/device_fleet.h"

namespace exa {

struct TracePod {
  std::string name;
  DeviceAsk ask;
};

// Columns sn, cpu_milli, memory_mib, gpu, model. `what` names the file in errors.
Result<std::vector<DeviceNode>> read_trace_nodes(std::string_view text, std::string_view what);
// Columns name, cpu_milli, memory_mib, num_gpu, gpu_milli; gpu_spec (models separated by bars) and
// the other openb columns may follow and, but for gpu_spec, are not used.
Result<std::vector<TracePod>> read_trace_pods(std::string_view text, std::string_view what);
// An exact sequence: seq, pod, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec; seq ascending.
Result<std::vector<TracePod>> read_arrivals(std::string_view text, std::string_view what);

// What ran here before, as `exa finops records -o csv` prints it, in the order in which it started.
// A record says nothing of cores and memory, so the asks are of devices alone; devices of the cpu
// family are cores.
bool is_usage_export(std::string_view text);
Result<std::vector<TracePod>> read_usage_export(std::string_view text, std::string_view what);

}  // namespace exa
