// What a program puts out for whoever launched it, where the target keeps it. Paths are absolute.
#pragma once

#include <string>
#include <string_view>

#include "discover/transport.h"
#include "launch/launch_spec.h"

namespace exa {

inline constexpr size_t kMostLaunchOutputs = size_t{64} << 10;  // bytes
inline constexpr std::string_view kOutputsFile = "outputs.json";
inline constexpr std::string_view kOutputsWord = "EXA_OUTPUTS ";

// What stands in outputs.json of the launch's folder: not_found where there is none yet,
// unreadable_output where it is no plain file or larger than kMostLaunchOutputs.
Result<std::string> outputs_in_folder(Transport& transport, const LaunchSpec& spec);
// Before a launch: what an earlier one of the same folder put out is none of its own. Only where
// the program is told that file (EXA_OUTPUTS); any other is somebody's own.
Result<void> drop_earlier_outputs(Transport& transport, const LaunchSpec& spec);

// The rest of the last line that begins with "EXA_OUTPUTS "; not_found where there is none.
// `is_cut`: the text ends wherever it was cut, so what stands behind its last line end is no line.
// Pure.
Result<std::string> outputs_in_log(std::string_view text, bool is_cut);

}  // namespace exa
