// The device model catalogue: what is known about each accelerator, compiled in, and how a name
// that a person or a tool wrote is compared with it. Names are tokenised and looked up exactly; a
// substring never decides (A10 is not A100, L4 is not L40). Semantics §2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/family.h"

namespace exa {

struct MigProfile {
  std::string_view name;  // "1g.10gb"
  int compute_slices;     // of 7
  int memory_slices;      // of 8
  int64_t memory_bytes;   // nominal
  int max_instances;      // on one card
};

struct DeviceModel {
  Family family;
  std::string_view name;                      // canonical: "A100-SXM4-80GB"
  std::string_view series;                    // what a bare hint names: "A100"
  std::span<const std::string_view> aliases;  // as real tools print them, any case, space - _ alike
  int64_t sold_memory_bytes;                  // "80 GB" on the label, in GiB units (80 * 2^30)
  int64_t reported_memory_bytes;              // what the driver reports, e.g. 81,559 MiB
  std::span<const MigProfile> mig_profiles;   // empty: no MIG
  int board_watts;                            // 0: not published
  std::span<const std::string_view> capabilities;  // fp16, bf16, fp8, tf32, int8, …
};

std::span<const DeviceModel> catalogue();

// Lower case, runs of space, '-', '_', '/' as one '-', vendor words ("nvidia", "amd instinct",
// "intel", "habana") dropped from the front: "NVIDIA A100-SXM4-80GB" -> "a100-sxm4-80gb". Of a chip
// name with the product in brackets only the product counts: "GH100 [H100 PCIe]" -> "h100-pcie".
std::string normalise_model(std::string_view text);

// What a text tells about a model: the catalogue rows that it can mean. "a100" means every A100;
// "A100-80GB" the two 80 GB ones; "A100-SXM4-80GB" one; "nvidia" or "tpu" every row of that family.
// Empty: not in the catalogue.
std::vector<const DeviceModel*> models_meant(std::string_view text);
// The single row meant, or nullptr. `memory_bytes` as reported narrows the choice ("P100-PCIE"
// with 16,384 MiB is the 16 GB one); a size that fits none of them decides nothing.
const DeviceModel* single_model(std::string_view text, std::optional<int64_t> memory_bytes = {});

enum class Match { confirmed, contradicted, not_reported };

// Whether a reported model bears out a hint. confirmed: everything the hint names is in the report
// (hint A100, report A100-SXM4-80GB). not_reported: the report is less exact than the hint (hint
// A100-80GB, report a100) or empty. contradicted: no device can be both. Texts outside the
// catalogue are compared by their normalised words. `memory_bytes` is the device memory reported,
// if any.
Match match_model(std::string_view hint, std::string_view reported,
                  std::optional<int64_t> memory_bytes = {});

// The same for rows that were looked up before (models_meant), for callers that compare one hint
// with many models. Neither may be empty: what is outside the catalogue is compared as text.
Match match_meant(std::span<const DeviceModel* const> hint,
                  std::span<const DeviceModel* const> reported);

// MIG profile of a model by name ("1g.10gb", "1g.10gb+me", Kubernetes' "1g.10gb.me"); nullptr if it
// has none such.
const MigProfile* find_mig_profile(const DeviceModel& model, std::string_view profile);
bool is_mig_profile_name(std::string_view text);  // <n>g.<m>gb[+me[.all]|+gfx|-me]
std::vector<std::string> canonical_model_names(Family family);

}  // namespace exa
