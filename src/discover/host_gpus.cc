#include "discover/host_gpus.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"

namespace exa {
namespace {

constexpr std::array<std::string_view, 12> kUnknownWords = {
    "",
    "n/a",
    "not supported",
    "err!",
    "unknown error",
    "unknown",
    "gpu is lost",
    "not found",
    "[]",
    "insufficient permissions",
    "not available",
    "requested functionality has been deprecated"};

std::string bare_word(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
    text = trim(text.substr(1, text.size() - 2));
  return lower(text);
}

// One GPU instance, from the rows of its compute instances.
struct GpuInstance {
  int64_t multiprocessors = 0;
  std::optional<int64_t> copy_engines, ofa_engines, memory_bytes;
  std::string profile;
  int64_t compute_slices_used = 0;  // of "1c.3g.71gb" rows
};

std::vector<MigProfile> profiles_of(std::string_view product, std::optional<int64_t> card_memory) {
  if (const DeviceModel* model = single_model(product, card_memory))
    return {model->mig_profiles.begin(), model->mig_profiles.end()};
  // Several rows are meant: their profiles serve if they are the same.
  std::vector<const DeviceModel*> meant = models_meant(product);
  std::vector<MigProfile> profiles;
  for (const DeviceModel* model : meant) {
    bool same = profiles.empty() ||
                std::equal(profiles.begin(), profiles.end(), model->mig_profiles.begin(),
                           model->mig_profiles.end(), [](const MigProfile& a, const MigProfile& b) {
                             return a.name == b.name;
                           });
    if (!same) return {};
    profiles.assign(model->mig_profiles.begin(), model->mig_profiles.end());
  }
  return profiles;
}

// A tool that does not print the name prints memory and engines. Memory is up to an eighth less
// than the nominal size (16,384 MiB on a 1g.18gb); sizes are a factor of about two apart. A GPU
// instance has as many copy engines as compute slices (a 7g of an H100 has 8); multiprocessors
// alone would mislead: a 3g.40gb of an H100 has 60, nearer to a 4g's 64 than to three times a
// 1g's 16.
bool has_size(const MigProfile& profile, const GpuInstance& instance) {
  double ratio = static_cast<double>(instance.memory_bytes.value_or(0)) /
                 static_cast<double>(profile.memory_bytes);
  return ratio > 0.82 && ratio < 1.05;
}

bool has_engines(const MigProfile& profile, const GpuInstance& instance) {
  if (instance.copy_engines)
    return profile.compute_slices == std::min<int64_t>(*instance.copy_engines, 7);
  // 14 to 20 per slice on every card so far; 26 on a 1g with two memory slices.
  int64_t extra = profile.compute_slices == 1 ? 6 : 0;
  return instance.multiprocessors == 0 ||
         (instance.multiprocessors >= profile.compute_slices * 14 &&
          instance.multiprocessors <= profile.compute_slices * 20 + extra);
}

// Only the media extension variant of a small profile has an optical flow engine.
bool has_media(const MigProfile& profile, const GpuInstance& instance) {
  bool wants = instance.ofa_engines.value_or(0) > 0 && profile.compute_slices < 7;
  return wants == (profile.name.find("+me") != std::string_view::npos);
}

std::string profile_by_size(const std::vector<MigProfile>& profiles, const GpuInstance& instance) {
  const MigProfile* fitting = nullptr;
  for (const MigProfile& profile : profiles) {
    if (!has_size(profile, instance) || !has_engines(profile, instance) ||
        !has_media(profile, instance))
      continue;
    if (fitting != nullptr) return "";
    fitting = &profile;
  }
  return fitting == nullptr ? "" : std::string(fitting->name);
}

// "2c.3g.71gb" is two of the three compute slices of a 3g.71gb.
struct ProfileName {
  std::string gpu_instance;
  int64_t compute_slices = 0;  // of the part; 0: the whole GPU instance
  int64_t slices = 0;          // of the GPU instance
};
ProfileName split_profile(std::string_view name) {
  ProfileName parts;
  size_t c = name.find("c.");
  if (c != std::string_view::npos) {
    if (auto part = parse_count(name.substr(0, c), "slices")) parts.compute_slices = *part;
    name.remove_prefix(c + 2);
  }
  parts.gpu_instance = lower(name);
  if (auto slices = parse_count(name.substr(0, std::min(name.find('g'), name.size())), "slices"))
    parts.slices = *slices;
  return parts;
}

// More than any card has: sums of what a tool claims must not run over.
constexpr int64_t kMostMultiprocessors = 1'000'000;

// Without instance ids, parts of one profile are packed: rows of 1c and 2c of a 3g.71gb are one.
// This is the fewest GPU instances that the rows allow, so that nothing is claimed that was not
// seen.
void add_named_row(std::vector<GpuInstance>& instances, const ProfileName& name) {
  if (name.compute_slices > 0 && name.compute_slices < name.slices) {
    for (GpuInstance& instance : instances) {
      bool has_room = instance.compute_slices_used > 0 &&
                      instance.compute_slices_used <= name.slices - name.compute_slices;
      if (instance.profile != name.gpu_instance || !has_room) continue;
      instance.compute_slices_used += name.compute_slices;
      return;
    }
  }
  GpuInstance& instance = instances.emplace_back();
  instance.profile = name.gpu_instance;
  instance.compute_slices_used = name.compute_slices;
}

}  // namespace

bool is_unknown_word(std::string_view text) {
  std::string word = bare_word(text);
  return std::find(kUnknownWords.begin(), kUnknownWords.end(), word) != kUnknownWords.end() ||
         word.find("gpu is lost") != std::string::npos || word.find("err!") != std::string::npos;
}

bool says_lost(std::string_view text) {
  return lower(text).find("gpu is lost") != std::string::npos;
}

Result<std::optional<int64_t>> parse_mib(std::string_view text, std::string_view what) {
  text = trim(text);
  if (is_unknown_word(text)) return std::nullopt;
  std::string_view number = text;
  if (number.ends_with("MiB")) number = trim(number.substr(0, number.size() - 3));
  auto count = parse_count(number, what);
  if (number.size() == text.size() || !count || *count > (int64_t{1} << 40))
    return fail(Code::unreadable_output, fmt::format("{}: '{}' is no amount of memory", what,
                                                     printable(text.substr(0, 40))));
  return std::optional<int64_t>(*count * kMiB);
}

std::string pci_address(std::string_view text) {
  std::string address = lower(trim(text));
  size_t colons = static_cast<size_t>(std::count(address.begin(), address.end(), ':'));
  if (colons == 1) address = "0000:" + address;
  if (colons == 2 && address.find(':') == 8 && address.starts_with("0000")) address.erase(0, 4);
  bool good = address.size() >= 12 && (colons == 1 || colons == 2) &&
              address.find_first_not_of("0123456789abcdef:.") == std::string::npos &&
              address[address.size() - 2] == '.' && address[address.size() - 5] == ':';
  return good ? address : "";
}

std::vector<std::string> mig_instances(std::string_view product, std::optional<int64_t> card_memory,
                                       std::span<const MigRow> rows) {
  std::vector<MigProfile> known = profiles_of(product, card_memory);
  std::vector<GpuInstance> instances;
  std::map<int64_t, size_t> by_id;
  for (const MigRow& row : rows) {
    if (!row.gpu_instance && !row.profile.empty()) {
      add_named_row(instances, split_profile(row.profile));
      continue;
    }
    size_t at = instances.size();
    if (row.gpu_instance) at = by_id.emplace(*row.gpu_instance, at).first->second;
    if (at == instances.size()) instances.emplace_back();
    GpuInstance& instance = instances[at];
    instance.multiprocessors += std::min(row.multiprocessors.value_or(0), kMostMultiprocessors);
    instance.copy_engines = row.copy_engines;
    instance.ofa_engines = row.ofa_engines;
    instance.memory_bytes = row.memory_bytes;
    if (!row.profile.empty()) instance.profile = split_profile(row.profile).gpu_instance;
  }
  std::vector<std::string> names;
  for (const GpuInstance& instance : instances)
    names.push_back(instance.profile.empty() ? profile_by_size(known, instance) : instance.profile);
  return names;
}

std::vector<Sharing> ways_to_share(Family family) {
  if (info(family).has_mig) return {Sharing::whole, Sharing::mig};
  return {Sharing::whole};
}

std::vector<CardSet> card_sets(std::span<const HostGpu> gpus) {
  std::vector<CardSet> sets;
  std::vector<const HostGpu*> first_of;
  auto set_of = [&](const HostGpu& gpu) -> CardSet& {
    for (size_t i = 0; i < sets.size(); ++i) {
      const HostGpu& other = *first_of[i];
      if (other.family == gpu.family && other.reported == gpu.reported &&
          other.memory_bytes == gpu.memory_bytes && other.fault == gpu.fault &&
          other.remark == gpu.remark && other.mig == gpu.mig &&
          other.may_be_asked == gpu.may_be_asked && other.instances_listed == gpu.instances_listed)
        return sets[i];
    }
    CardSet set;
    set.family = gpu.family;
    set.reported = gpu.reported;
    set.memory_bytes = gpu.memory_bytes;
    set.physical = 0;
    set.remark = gpu.fault.empty() ? gpu.remark : gpu.fault;
    if (const DeviceModel* model = single_model(gpu.reported, gpu.memory_bytes);
        model && !gpu.reported.empty())
      set.model = model->name;
    if (gpu.may_be_asked) set.offers_unread = ways_to_share(gpu.family);
    first_of.push_back(&gpu);
    return sets.emplace_back(std::move(set));
  };
  for (const HostGpu& gpu : gpus) {
    CardSet& set = set_of(gpu);
    ++*set.physical;
    if (!gpu.fault.empty()) continue;
    // On a bare host a device is asked for by naming it in the vendor's variable. Nothing hands out
    // devices there, so a process on one takes no unit away: used and free stay unknown.
    std::string resource(info(gpu.family).visible_devices);
    auto add = [&](Sharing sharing, const std::string& profile) {
      for (Offer& offer : set.offers)
        if (offer.sharing == sharing && offer.mig_profile == profile) return void(++offer.units);
      set.offers.push_back({sharing, resource, profile, 1, std::nullopt, std::nullopt});
    };
    if (!gpu.mig) add(Sharing::whole, "");
    for (const std::string& instance : gpu.instances) add(Sharing::mig, instance);
    if (gpu.mig && gpu.instances.empty() && gpu.instances_listed)
      set.remark = "MIG is on and there is no instance: nothing can be asked for";
    if (gpu.mig && gpu.instances.empty() && !gpu.instances_listed) {
      set.offers_unread = {Sharing::mig};
      set.remark =
          "MIG is on and its instances were not listed: what can be asked for is not known";
    }
    if (std::find(gpu.instances.begin(), gpu.instances.end(), "") != gpu.instances.end())
      set.remark = "has MIG instances that fit no known profile";
  }
  return sets;
}

}  // namespace exa
