// A compute profile of the catalogue (requirement "Compute Profile"; semantics §7): what an admin
// publishes as Small, Medium or Large and users launch by filling in a few inputs. Called SKU where
// PaletteAI's ComputeProfile (compute/palette_manifest.h) could be meant. Pure.
//
// It is versioned as a hardware profile is: a SKU is the content of one version. Whose it is, which
// version, since when, whether it is published and with whom it is shared stand beside it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/money.h"
#include "catalogue/input_setting.h"
#include "profile/hardware_profile.h"
#include "profile/reference.h"

namespace exa {

enum class SkuAllocation { dedicated, shared };
std::string_view name(SkuAllocation allocation);
std::optional<SkuAllocation> find_sku_allocation(std::string_view name);

struct TemplateRef {
  std::string name;
  std::string version;  // always told: a template that is published again changes no SKU

  bool operator==(const TemplateRef&) const = default;
};

// What the environment template puts out and users see after a launch.
struct OutputSetting {
  std::string name;  // as the template calls it; an identifier
  std::string label;
  std::string description;
  bool is_secret = false;  // shown to whoever launched, when asked for; masked elsewhere

  bool operator==(const OutputSetting&) const = default;
};

struct ComputeSku {
  std::string name;          // never changes
  std::string display_name;  // what users see; empty: the name
  std::string description;
  SkuAllocation allocation = SkuAllocation::dedicated;
  TemplateRef environment_template;
  // One of the two, or neither: the template alone decides what it takes.
  std::optional<ProfileRef> hardware_profile;  // with its version
  std::optional<Shape> shape;
  std::vector<std::pair<std::string, std::string>> labels;       // copied to instances
  std::vector<std::pair<std::string, std::string>> annotations;  // likewise
  std::string icon_url;                 // https://…, or data:image/… of a picture
  std::string readme;                   // Markdown
  std::optional<Money> price_per_hour;  // unknown is nullopt, never 0; 0 is free of charge
  std::vector<InputSetting> inputs;     // in the order in which they are asked for
  std::vector<OutputSetting> outputs;

  bool operator==(const ComputeSku&) const = default;
};

inline constexpr size_t kLongestSkuDescription = 4'096;       // bytes
inline constexpr size_t kLongestReadme = size_t{64} << 10;    // bytes
inline constexpr size_t kLongestIconUrl = 2'048;              // https://
inline constexpr size_t kLongestIconData = size_t{64} << 10;  // data:
inline constexpr size_t kMostSkuLabels = 64;
inline constexpr size_t kLongestAnnotation = 16'384;  // bytes
inline constexpr size_t kMostOutputs = 100;

// The only serializer: every key in the order above, null where nothing is said.
json::object to_json(const ComputeSku& sku);

// What to_json writes and admins write by hand, checked: types, fields that are none, and every
// rule of problems_of(). Fails with invalid_input and all problems at once, each with its pointer.
Result<ComputeSku> compute_sku_from_json(const json::value& value);

// The rules, of a SKU however it came about.
std::vector<Problem> problems_of(const ComputeSku& sku);

// An edit of a SKU: as problems_of(after), and the name is the one it has.
std::vector<Problem> problems_of_edit(const ComputeSku& before, const ComputeSku& after);

}  // namespace exa
