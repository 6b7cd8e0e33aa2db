// A shape as options of Slurm.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "discover/slurm_gres.h"
#include "hardware/catalogue.h"
#include "launch/vocabulary_slurm.h"

namespace exa::vocabulary {
namespace {

constexpr std::string_view kShapeOptions[] = {
    "--nodes",
    "--ntasks",
    "--ntasks-per-node",
    "--ntasks-per-gpu",
    "--cpus-per-task",
    "--cpus-per-gpu",
    "--mem",
    "--mem-per-cpu",
    "--mem-per-gpu",
    "--gres",
    "--gpus",
    "--gpus-per-node",
    "--gpus-per-task",
    "--gpus-per-socket",
};

bool is_type_word(std::string_view text, std::string_view also) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || also.find(c) != also.npos;
  });
}

int64_t divided_up(int64_t amount, int64_t unit) {
  return (amount + unit - 1) / unit;
}

std::string memory_words(const Writing& writing) {
  const int64_t bytes = writing.shape.memory_bytes;
  const int64_t mib = divided_up(bytes, kMiB);
  if (bytes % kMiB != 0)
    writing.note("memory_gb", fmt::format("Slurm counts in MiB: {} are asked for", mib));
  return mib % 1024 == 0 ? fmt::format("{}G", mib / 1024) : fmt::format("{}M", mib);
}

std::string type_words(const Writing& writing, SlurmNames& names) {
  const Shape& shape = writing.shape;
  std::string type = gres_type(shape.accelerator_model_hint);
  const auto with_profile = [&](const std::string& model) {
    if (shape.mig_profile.empty() || model.empty()) return model + shape.mig_profile;
    return fmt::format("{}_{}", model, shape.mig_profile);
  };
  if (names.device(with_profile(type)).mig_profile != shape.mig_profile) type.clear();
  const std::string& hint = shape.accelerator_model_hint;
  if (!hint.empty() && !same_models(names.device(with_profile(type)).reported, hint)) {
    writing.note("accelerator_model_hint",
                 type.empty() ? "cannot be the type of a GRES"
                              : fmt::format("sites name their GRES types themselves: {} is asked "
                                            "for; give the site's own word as the hint",
                                            type));
  }
  return with_profile(type);
}

std::string device_words(const Writing& writing) {
  const Shape& shape = writing.shape;
  if (shape.gpu_count == 0) {
    if (shape.accelerator_family == Family::cpu) return "";
    writing.note("accelerator_family", "no device is asked for, so nothing says whose");
    note_without_words(writing, {{"accelerator_model_hint", "no device is asked for"}});
    return "";
  }
  SlurmNames names;
  const std::string_view name = info(shape.accelerator_family).slurm_gres.front();
  const std::string type = type_words(writing, names);
  if (families_of_gres(name).size() > 1 && names.device(type).family != shape.accelerator_family) {
    writing.note("accelerator_family",
                 fmt::format("{} is any vendor's, and nothing else says whose", name));
  }
  if (shape.gpu_fraction_milli != 1000) {
    writing.note("gpu_fraction",
                 "Slurm shares devices in shards, and how many a device has is the site's: whole "
                 "devices are asked for");
  }
  return type.empty() ? fmt::format("{}:{}", name, shape.gpu_count)
                      : fmt::format("{}:{}:{}", name, type, shape.gpu_count);
}

// What else than devices a list asked for.
std::string other_gres(const OptionText& options) {
  const Option* option = last_option(options, "--gres");
  std::vector<std::string> kept;
  if (option == nullptr) return "";
  for (const std::string_view entry : split(option->value, ',')) {
    const std::string text = plain_gres(entry);
    const auto list = parse_gres(text, MissingCount::is_one);
    if (entry != "none" && list && list->size() == 1 &&
        families_of_gres(list->front().name).empty())
      kept.emplace_back(entry);
  }
  return join(kept, ",");
}

}  // namespace

std::span<const std::string_view> slurm_shape_options() {
  return kShapeOptions;
}

std::vector<Family> families_of_gres(std::string_view name) {
  std::vector<Family> found;
  for (const FamilyInfo& row : families())
    if (std::ranges::find(row.slurm_gres, name) != row.slurm_gres.end())
      found.push_back(row.family);
  return found;
}

// "gres/gpu:a100:2" is written too
std::string plain_gres(std::string_view list) {
  std::vector<std::string> entries;
  for (std::string_view entry : split(list, ',')) {
    for (const std::string_view prefix : {"gres/", "gres:"})
      if (entry.starts_with(prefix)) entry.remove_prefix(prefix.size());
    entries.emplace_back(entry);
  }
  return join(entries, ",");
}

std::string gres_type(std::string_view hint) {
  if (is_type_word(hint, "._-")) return std::string(hint);
  const std::string_view series = series_meant(hint);
  std::string type = series.empty() ? normalise_model(hint) : lower(series);
  if (type.starts_with("gaudi-")) std::erase(type, '-');  // as sites write it
  return is_type_word(type, "._-+") ? type : "";
}

std::vector<std::string> slurm_options(const Writing& writing) {
  const Shape& shape = writing.shape;
  note_without_words(writing, {kNoDriver, kNoRuntime, kNoUse, kNoDescription});
  std::vector<std::string> options = {fmt::format("--nodes={}", shape.nodes)};
  if (shape.cpu_milli > 0) {
    const int64_t cpus = divided_up(shape.cpu_milli, 1000);
    if (shape.cpu_milli % 1000 != 0)
      writing.note("cpu", fmt::format("Slurm counts whole CPUs: {} are asked for", cpus));
    options.push_back("--ntasks-per-node=1");
    options.push_back(fmt::format("--cpus-per-task={}", cpus));
  }
  if (shape.memory_bytes > 0) options.push_back("--mem=" + memory_words(writing));
  if (const std::string devices = device_words(writing); !devices.empty())
    options.push_back("--gres=" + devices);
  return options;
}

bool asks_for_anything(const Parts& parts) {
  return parts.devices || parts.cpu || parts.memory || parts.nodes;
}

bool is_options_alone(std::string_view text) {
  const std::string_view trimmed = trim(text);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return trimmed.size() > 1 && trimmed[0] == '-' &&
         (is_letter(trimmed[1]) ||
          (trimmed[1] == '-' && trimmed.size() > 2 && is_letter(trimmed[2])));
}

void rewrite_slurm(const Writing& writing, const OptionGrammar& grammar, Source& target) {
  if (!asks_for_anything(writing.parts)) return;
  Reading reading(target);
  const OptionText options = parse_options(target, grammar, reading);
  std::vector<std::string> added = slurm_options(writing);
  if (const std::string others = other_gres(options); !others.empty()) {
    if (added.back().starts_with("--gres="))
      added.back() += "," + others;
    else
      added.push_back("--gres=" + others);
  }
  target.text = with_options(target, grammar, options, kShapeOptions, added);
}

}  // namespace exa::vocabulary
