#include "compute/machine_tags.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/boolean.h"
#include "base/quantity.h"
#include "base/text.h"
#include "hardware/machine_bounds.h"

namespace exa {
namespace {

constexpr std::string_view kGroupPrefix = "palette.ai.rg/";
constexpr std::string_view kBlanks = " \t\r\n";

std::string tag_is(std::string_view key, std::string_view value) {
  return fmt::format("tag {} is \"{}\"", printable(key), printable(value));
}

class TagReader {
 public:
  explicit TagReader(MachineTags& tags) : tags_(tags) {}

  void flag(std::string_view key, std::string_view value, std::optional<bool>& into) {
    into = parse_boolean(lower(value));
    if (!into) say(key, value, "write true or false");
  }

  void count(std::string_view key, std::string_view value, int64_t least, int64_t most,
             std::optional<int64_t>& into) {
    const auto number = parse_count(value, key);
    if (number && *number >= least && *number <= most)
      into = *number;
    else
      say(key, value, fmt::format("write a whole number from {} to {}", least, most));
  }

  void memory(std::string_view key, std::string_view value) {
    if (const auto bytes = parse_gpu_memory(value))
      tags_.gpu_memory_bytes = *bytes;
    else
      tags_.unreadable.push_back(fmt::format("tag {}: {}", printable(key), bytes.error().message));
  }

  void family(std::string_view key, std::string_view value) {
    if (gpu_family(value).empty())
      say(key, value, "write a family such as nvidia-a100");
    else
      tags_.gpu_family = value;
  }

  void group(std::string_view key, std::string_view value) {
    const std::string_view name = key.substr(kGroupPrefix.size());
    if (name.empty())
      say(key, value, "write the name of a resource group after palette.ai.rg/");
    else
      tags_.groups.emplace_back(name, value);
  }

 private:
  void say(std::string_view key, std::string_view value, std::string_view what_would_work) {
    tags_.unreadable.push_back(fmt::format("{}: {}", tag_is(key, value), what_would_work));
  }

  MachineTags& tags_;
};

// A tag in the document's own name space that it does not know does nothing; silence would leave
// the writer wondering.
std::string misspelt(std::string_view key) {
  static const std::vector<std::string> known = {"palette.ai", "palette.ai/control-plane",
                                                 "palette.ai/worker", "palette.ai.rg/NAME"};
  const std::string hint = did_you_mean(key, known);
  return fmt::format("tag {} means nothing here{}{}", printable(key), hint.empty() ? "" : ": ",
                     hint);
}

void read_tag(TagReader& read, const std::string& key, const std::string& value,
              MachineTags& tags) {
  if (key == "palette.ai")
    read.flag(key, value, tags.palette);
  else if (key == "palette.ai/control-plane")
    read.flag(key, value, tags.control_plane);
  else if (key == "palette.ai/worker")
    read.flag(key, value, tags.worker);
  else if (key == "gpus")
    read.count(key, value, 0, kMostGpus, tags.gpus);
  else if (key == "cpus")
    read.count(key, value, 1, kMostCores, tags.cpus);
  else if (key == "gpu-memory")
    read.memory(key, value);
  else if (key == "gpu-family")
    read.family(key, value);
  else if (key.starts_with(kGroupPrefix))
    read.group(key, value);
  else if (key.starts_with("palette.ai"))
    tags.unknown.push_back(misspelt(key));
}

std::string_view unquoted(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == text.back() &&
                         (text.front() == '"' || text.front() == '\'');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

MachineTags read_tags(const Tags& tags) {
  MachineTags result;
  TagReader read(result);
  for (const auto& [key, value] : tags) read_tag(read, key, value, result);
  std::ranges::sort(result.groups);
  return result;
}

Result<std::pair<std::string, std::string>> parse_tag(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is not a tag: {}; write for example palette.ai=true or gpus: 8",
                            printable(text), why));
  };
  if (!is_valid_utf8(text)) return refuse("it is not valid UTF-8");
  const size_t parting = text.find_first_of("=:");
  if (parting == std::string_view::npos) return refuse("it has no value");
  const std::string_view key = unquoted(trim(text.substr(0, parting)));
  const std::string_view value = unquoted(trim(text.substr(parting + 1)));
  if (key.empty()) return refuse("it has no name");
  if (key.find_first_of(kBlanks) != std::string_view::npos) return refuse("its name has a blank");
  if (printable(text) != text) return refuse("it holds control characters");
  return std::pair{std::string(key), std::string(value)};
}

}  // namespace exa
