#include "catalogue/rafay_fields.h"

#include <algorithm>

#include "base/text.h"
#include "catalogue/input_values.h"
#include "catalogue/rafay.h"

namespace exa {

bool is_rafay_profile(const json::value& document) {
  return text_or(document, "apiVersion", "").starts_with("paas.envmgmt.io/") &&
         text_or(document, "kind", "") == "ComputeProfile";
}

}  // namespace exa

namespace exa::rafay {
namespace {

constexpr std::string_view kName[] = {"metadata/name"};
constexpr std::string_view kDisplayName[] = {"metadata/displayName"};
constexpr std::string_view kDescription[] = {"metadata/description"};
constexpr std::string_view kAllocation[] = {"spec/allocationType", "spec/allocation"};
constexpr std::string_view kTemplate[] = {"spec/templateRef/name", "spec/template/name",
                                          "spec/environmentTemplate/name"};
constexpr std::string_view kTemplateVersion[] = {
    "spec/templateRef/version", "spec/template/version", "spec/environmentTemplate/version"};
constexpr std::string_view kIcon[] = {"spec/iconURL", "spec/iconUrl"};
constexpr std::string_view kReadme[] = {"spec/readme"};

constexpr TextField kFields[] = {
    {"name", kName},
    {"display_name", kDisplayName},
    {"description", kDescription},
    {"allocation", kAllocation},
    {"environment_template/name", kTemplate},
    {"environment_template/version", kTemplateVersion},
    {"icon_url", kIcon},
    {"readme", kReadme},
};

struct Word {
  std::string_view word;
  InputOverride override_;
};
constexpr Word kOverrides[] = {
    {"allowed", InputOverride::allowed},
    {"notallowed", InputOverride::not_allowed},
    {"restricted", InputOverride::restricted},
    {"restricted_key_values", InputOverride::restricted_key_values},
};

}  // namespace

std::span<const TextField> text_fields() {
  return kFields;
}

const json::value* at_path(const json::object& root, std::string_view path) {
  const json::object* object = &root;
  for (;;) {
    const size_t slash = path.find('/');
    const json::value* value = find(*object, path.substr(0, slash));
    if (value == nullptr || slash == path.npos) return value;
    object = value->if_object();
    if (object == nullptr) return nullptr;
    path.remove_prefix(slash + 1);
  }
}

std::string input_name_of(std::string_view variable) {
  if (is_input_name(variable)) return std::string(variable);
  std::string name;
  for (const char c : lower(variable)) {
    if (is_input_name(std::string("a") + c) && c != '_')
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  if (!name.empty() && name.front() >= '0' && name.front() <= '9') name.insert(0, "v");
  return is_input_name(name) ? name : "";
}

std::optional<InputOverride> find_override(std::string_view word) {
  const auto* found = std::ranges::find(kOverrides, word, &Word::word);
  return found == std::end(kOverrides) ? std::nullopt : std::optional(found->override_);
}

std::string_view word_of(InputOverride override_) {
  const auto* found = std::ranges::find(kOverrides, override_, &Word::override_);
  EXA_ASSERT(found != std::end(kOverrides));
  return found->word;
}

}  // namespace exa::rafay
