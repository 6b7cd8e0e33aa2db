// GPU families as PaletteAI's document spells them: "nvidia-a100" in a tag, "NVIDIA-A100" in a
// limit, "NVIDIA A100" in a status, "NVIDIA A100-SXM4-80GB" from a driver. All of one series are
// one family (semantics §6, §2). Pure.
#pragma once

#include <string>
#include <string_view>

namespace exa {

struct GpuFamily {
  std::string key;    // "nvidia-a100": compare by it
  std::string shown;  // "NVIDIA A100"

  bool operator==(const GpuFamily& other) const { return key == other.key; }
  auto operator<=>(const GpuFamily& other) const { return key <=> other.key; }
  bool empty() const { return key.empty(); }
};

// Never fails: what is outside the catalogue is its own family by its words, whatever their case
// and whether blanks, '-' or '_' part them. Empty: the text has no letter or digit, or is what
// tools print where they know nothing ("N/A", "unknown", "GPU").
GpuFamily gpu_family(std::string_view text);

}  // namespace exa
