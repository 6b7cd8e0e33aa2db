// The tags that PaletteAI's document gives a meaning, read (requirement "Device Tags").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute/machine.h"

namespace exa {

struct MachineTags {
  std::optional<bool> palette;
  std::optional<int64_t> gpus;
  std::optional<int64_t> cpus;
  std::optional<int64_t> gpu_memory_bytes;
  std::optional<std::string> gpu_family;  // as written; names a family
  std::optional<bool> control_plane;
  std::optional<bool> worker;
  ResourceGroups groups;
  std::vector<std::string> unreadable;  // a sentence for each tag that cannot be read
  std::vector<std::string> unknown;     // a sentence for each that looks like a misspelt one
};

MachineTags read_tags(const Tags& tags);

}  // namespace exa
