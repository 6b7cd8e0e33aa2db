// Manifests made by chance: valid ones come out as they went in; broken ones are refused with a
// place or taken, and never lose a field that nobody knows.
#include <random>

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "compute/manifest_for_test.h"

namespace exa {
namespace {

constexpr int kRounds = 400;

class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}

  size_t below(size_t end) { return random_() % end; }
  bool once_in(size_t times) { return below(times) == 0; }
  std::string_view one_of(std::initializer_list<std::string_view> words) {
    return words.begin()[below(words.size())];
  }
  std::string name() { return fmt::format("{}-{}", one_of({"a", "edge", "x0"}), below(1000)); }

 private:
  std::mt19937_64 random_;
};

json::value unknown_value(Chance& chance, int depth = 0) {
  switch (chance.below(depth < 3 ? 7 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return chance.once_in(2);
    case 2:
      return static_cast<int64_t>(chance.below(1000)) - 500;
    case 3:
      return 0.25 * static_cast<double>(chance.below(9)) + 0.125;
    case 4:
      return json::string(
          chance.one_of({"", "true", "0x10", "{{ x }}", "a\nb\n", "é: #", "-", "~"}));
    case 5: {
      json::array list;
      for (size_t i = chance.below(3); i > 0; --i) list.push_back(unknown_value(chance, depth + 1));
      return list;
    }
    default: {
      json::object object;
      for (size_t i = chance.below(3); i > 0; --i)
        object[fmt::format("zz-{}", chance.below(50))] = unknown_value(chance, depth + 1);
      return object;
    }
  }
}

json::object valid_pairs(Chance& chance) {
  json::object pairs;
  for (size_t i = chance.below(4); i > 0; --i)
    pairs[chance.name()] = chance.one_of({"", "true", "7.14.5", "A_b"});
  return pairs;
}

json::object valid_counts(Chance& chance) {
  json::object counts;
  if (chance.once_in(2)) counts["NVIDIA-H100"] = 1 + chance.below(16);
  if (chance.once_in(2)) counts["nvidia a100"] = 1 + chance.below(16);
  return counts;
}

json::object valid_defaults(Chance& chance) {
  json::object defaults;
  if (chance.once_in(2)) defaults["labels"] = valid_pairs(chance);
  if (chance.once_in(2)) defaults["annotations"] = valid_pairs(chance);
  if (chance.once_in(2)) {
    json::object taint = {{"key", chance.name()}, {"effect", "NoSchedule"}};
    if (chance.once_in(2)) taint["value"] = "x";
    defaults["taints"] = json::array{std::move(taint)};
  }
  return defaults;
}

json::object valid_profile(Chance& chance) {
  json::object plane = valid_defaults(chance);
  const size_t count = 1 + 2 * chance.below(3);
  plane["nodeCount"] = count;
  json::object spec = {{"controlPlaneDefaults", std::move(plane)}};
  if (chance.once_in(2))
    spec["edge"] = {{"vip", fmt::format("10.0.0.{}", 1 + chance.below(250))},
                    {"ntpServers", {"time.google.com"}},
                    {"isTwoNode", count == 1}};
  if (chance.once_in(2)) spec["workerPoolDefaults"] = valid_defaults(chance);
  if (chance.once_in(2)) spec["minWorkerNodes"] = chance.below(9);
  if (chance.once_in(2)) spec["gpuLimits"] = valid_counts(chance);
  return spec;
}

json::object valid_platform(Chance& chance) {
  json::object spec;
  if (chance.once_in(2))
    spec["computeProfileRef"] = {{"name", chance.name()}, {"override", valid_profile(chance)}};
  if (chance.once_in(2)) spec["gpus"] = valid_counts(chance);
  if (chance.once_in(2)) spec["gpuMemory"] = chance.one_of({"80G", "81920MiB", "40 gb"});
  if (chance.once_in(2)) spec["mode"] = chance.one_of({"dedicated", "shared"});
  if (chance.once_in(2)) spec["workerResourceGroups"] = {{"region/us", "a b"}};
  return spec;
}

json::object valid_spec(PaletteKind kind, Chance& chance) {
  switch (kind) {
    case PaletteKind::compute_profile:
      return valid_profile(chance);
    case PaletteKind::ml_platform:
      return valid_platform(chance);
    case PaletteKind::project:
      return {{"computeProfileRef", {{"name", chance.name()}}}};
    case PaletteKind::settings:
      return {{"machineSources", {"a", "b"}}, {"provisioner", "ansible"}};
    default:
      return {};
  }
}

void add_unknown_fields(json::object& object, Chance& chance) {
  for (auto& member : object)
    if (member.value().is_object() && member.key() != "labels" && member.key() != "annotations" &&
        member.key() != "gpus" && member.key() != "gpuLimits" &&
        member.key() != "workerResourceGroups")
      add_unknown_fields(member.value().get_object(), chance);
  if (chance.once_in(2))
    object[fmt::format("x-unknown-{}", chance.below(9))] = unknown_value(chance);
}

json::object valid_manifest(Chance& chance, size_t number) {
  const PaletteKindInfo& kind = palette_kinds()[chance.below(palette_kinds().size())];
  json::object document = {{"apiVersion", kind.api_version},
                           {"kind", kind.name},
                           {"metadata", {{"name", fmt::format("m-{}", number)}}},
                           {"spec", valid_spec(kind.kind, chance)}};
  add_unknown_fields(document, chance);
  return document;
}

// A spec of any kind; that it can be built at all is what is tried.
void build_spec(const Manifest& manifest) {
  switch (manifest.kind) {
    case PaletteKind::settings:
      settings_spec(manifest);
      break;
    case PaletteKind::compute_profile:
      EXPECT_TRUE(overridden(manifest, {}));
      break;
    case PaletteKind::workload_profile:
      workload_profile_spec(manifest);
      break;
    case PaletteKind::project:
      project_spec(manifest);
      break;
    case PaletteKind::compute:
      compute_spec(manifest);
      break;
    case PaletteKind::ml_platform:
      ml_platform_spec(manifest);
      break;
  }
}

TEST(ManifestProperty, ValidManifestsComeOutAsTheyWentIn) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Chance chance(seed);
  for (int round = 0; round < kRounds; ++round) {
    std::map<std::string, std::string> written;
    std::string text;
    for (size_t i = 0; i < 1 + chance.below(4); ++i) {
      const json::object document = valid_manifest(chance, i);
      written[fmt::format("m-{}", i)] = to_text(document);
      text += "---\n" + to_yaml(document);
    }
    const auto manifests = read_manifests(text, "f");
    ASSERT_TRUE(manifests) << text << testing::PrintToString(problems_of_manifests(text));
    ASSERT_EQ(manifests->size(), written.size());
    for (const Manifest& manifest : *manifests) {
      ASSERT_EQ(to_text(manifest.document), written[manifest.name]) << text;
      build_spec(manifest);
    }
  }
}

// Somewhere in the document another value, a key less or a key twice removed.
void mutate(json::value& value, Chance& chance) {
  if (value.is_object() && !value.get_object().empty() && !chance.once_in(5)) {
    json::object& object = value.get_object();
    const auto member = object.begin() + static_cast<ptrdiff_t>(chance.below(object.size()));
    if (chance.once_in(6))
      object.erase(member);
    else
      mutate(member->value(), chance);
  } else if (value.is_array() && !value.get_array().empty() && !chance.once_in(5)) {
    mutate(value.get_array()[chance.below(value.get_array().size())], chance);
  } else {
    value = unknown_value(chance);
  }
}

TEST(ManifestProperty, BrokenManifestsAreRefusedWithAPlaceOrTakenWhole) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Chance chance(seed);
  int taken = 0;
  for (int round = 0; round < kRounds; ++round) {
    json::value document = valid_manifest(chance, 0);
    for (size_t times = 1 + chance.below(3); times > 0; --times) mutate(document, chance);
    const std::string text = to_yaml(document);
    const auto manifests = read_manifests(text, "f");
    if (manifests) {
      ++taken;
      ASSERT_EQ(to_text(manifests->front().document), to_text(document)) << text;
      build_spec(manifests->front());
      continue;
    }
    ASSERT_FALSE(manifests.error().problems.empty()) << text;
    for (const Problem& problem : manifests.error().problems) {
      ASSERT_TRUE(problem.where.starts_with("f:")) << problem.where << '\n' << text;
      ASSERT_FALSE(problem.message.empty()) << text;
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_LT(taken, kRounds);
}

}  // namespace
}  // namespace exa
