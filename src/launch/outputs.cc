#include "launch/outputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

std::string path_of(const LaunchSpec& spec) {
  return fmt::format("{}/{}", spec.folder, kOutputsFile);
}

Failure none_yet() {
  return fail(Code::not_found, "it has put out nothing yet", "look at its log");
}

Failure too_large() {
  return fail(Code::unreadable_output,
              fmt::format("what it put out is larger than {} bytes", kMostLaunchOutputs));
}

// Fixed text: the path stands behind it. A link leads anywhere, and a FIFO or a device has no end.
constexpr std::string_view kRead = R"([ -e "$1" ] || [ -L "$1" ] || exit 100
[ -f "$1" ] && [ ! -L "$1" ] || exit 101
exec head -c "$2" -- "$1"
)";
constexpr int kNone = 100;
constexpr int kNoFile = 101;

}  // namespace

Result<std::string> outputs_in_folder(Transport& transport, const LaunchSpec& spec) {
  if (spec.folder.empty()) return none_yet();
  const std::string path = path_of(spec);
  EXA_ASSIGN(Finished finished, transport.run({"sh", "-c", std::string(kRead), "exa-outputs", path,
                                               std::to_string(kMostLaunchOutputs + 1)}));
  if (finished.exit_code == kNone) return none_yet();
  if (finished.exit_code == kNoFile)
    return fail(Code::unreadable_output,
                fmt::format("{} is a link or no plain file", printable(path)));
  if (finished.exit_code != 0)
    return fail(Code::probe_failed,
                fmt::format("cannot read {}: {}", printable(path), printable(trim(finished.err))));
  if (finished.out.size() > kMostLaunchOutputs) return too_large();
  return std::move(finished.out);
}

Result<void> drop_earlier_outputs(Transport& transport, const LaunchSpec& spec) {
  const std::string path = path_of(spec);
  const bool is_told =
      std::ranges::find(spec.environment, std::pair(std::string("EXA_OUTPUTS"), path)) !=
      spec.environment.end();
  if (spec.folder.empty() || !is_told) return {};
  EXA_ASSIGN(const Finished finished, transport.run({"rm", "-rf", "--", path}));
  if (finished.exit_code == 0) return {};
  return fail(Code::invalid_input,
              fmt::format("{} of an earlier launch cannot be removed on {}: {}", printable(path),
                          transport.describe(), printable(trim(finished.err))),
              "remove it there");
}

Result<std::string> outputs_in_log(std::string_view text, bool is_cut) {
  if (is_cut) text = text.substr(0, text.rfind('\n') + 1);
  while (!text.empty()) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    const size_t begin = text.rfind('\n') + 1;  // npos + 1 is 0
    std::string_view line = text.substr(begin);
    text = text.substr(0, begin);
    if (!line.starts_with(kOutputsWord)) continue;
    line = trim(line.substr(kOutputsWord.size()));
    if (line.size() > kMostLaunchOutputs) return too_large();
    return std::string(line);
  }
  return none_yet();
}

}  // namespace exa
