#include "compute/gpu_memory.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "compute/machine.h"
#include "hardware/catalogue.h"

namespace exa {
namespace {

constexpr int64_t kGigabyte = 1'000'000'000;
constexpr std::string_view kUnits[] = {"m", "mb", "mib", "g", "gb", "gib"};

struct Sizes {
  int64_t least = 0;  // 0: not known
  int64_t most = 0;
};

Sizes sizes_of(const std::vector<const DeviceModel*>& rows) {
  Sizes sizes;
  for (const DeviceModel* row : rows) {
    const int64_t reported =
        row->reported_memory_bytes > 0 ? row->reported_memory_bytes : row->sold_memory_bytes;
    const int64_t least = std::min(row->sold_memory_bytes, reported);
    sizes.least = sizes.least == 0 ? least : std::min(sizes.least, least);
    sizes.most = std::max({sizes.most, row->sold_memory_bytes, reported});
  }
  return sizes;
}

std::string range_of(const std::vector<const DeviceModel*>& rows) {
  const auto [least, most] = std::ranges::minmax(rows, {}, &DeviceModel::sold_memory_bytes);
  const int64_t low = least->sold_memory_bytes / kGiB;
  const int64_t high = most->sold_memory_bytes / kGiB;
  return low == high ? fmt::format("{} GB", low) : fmt::format("{} to {} GB", low, high);
}

}  // namespace

Result<int64_t> parse_gpu_memory(std::string_view text) {
  const std::string_view trimmed = trim(text);
  const size_t unit_at = std::min(trimmed.find_first_not_of("0123456789."), trimmed.size());
  const std::string unit = lower(trim(trimmed.substr(unit_at)));
  const bool is_bare = unit.empty() && unit_at > 0;
  if (is_bare)
    return fail(Code::invalid_input, fmt::format("\"{}\" has no unit: write {}G, {}GiB or {}MiB",
                                                 printable(text), trimmed, trimmed, trimmed));
  const auto refuse = [&] {
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is not the memory of a GPU: write for example 80G; units are "
                            "M, MB, MiB, G, GB and GiB",
                            printable(text)));
  };
  if (std::ranges::find(kUnits, unit) == std::end(kUnits)) return refuse();
  const auto bytes = parse_bytes_with_unit(trimmed);
  if (!bytes || *bytes <= 0) return refuse();
  if (*bytes > kMostGpuMemory)
    return fail(Code::invalid_input,
                fmt::format("\"{}\" is more memory than any GPU has", printable(text)));
  return *bytes;
}

std::string shown_gpu_memory(int64_t bytes) {
  if (bytes % kGigabyte == 0) return fmt::format("{} GB", bytes / kGigabyte);
  return format_bytes(bytes);
}

bool same_gpu_memory(int64_t a, int64_t b) {
  return std::min(a, b) >= std::max(a, b) / 10 * 9;
}

std::string impossible_card(std::string_view text, const GpuFamily& family, int64_t bytes) {
  const std::vector<const DeviceModel*> rows = models_meant(text);
  if (rows.empty()) return {};
  const Sizes sizes = sizes_of(rows);
  const bool too_small = bytes < sizes.least && !same_gpu_memory(bytes, sizes.least);
  const bool too_large = bytes > sizes.most && !same_gpu_memory(bytes, sizes.most);
  if (!too_small && !too_large) return {};
  return fmt::format("{} with {} is not a card that exists: it has {}", family.shown,
                     shown_gpu_memory(bytes), range_of(rows));
}

}  // namespace exa
