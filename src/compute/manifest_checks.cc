#include "compute/manifest_checks.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/kubernetes_names.h"
#include "base/quantity.h"
#include "base/text.h"
#include "compute/gpu_family.h"
#include "compute/machine.h"

namespace exa {
namespace {

constexpr std::string_view kSubdomain =
    "lower-case letters, digits, '-' and '.', at most 253, beginning and ending with a letter or "
    "digit";
constexpr std::string_view kLabel =
    "lower-case letters, digits and '-', at most 63, beginning and ending with a letter or digit";
constexpr std::string_view kKey =
    "NAME or DOMAIN/NAME; a name is letters, digits, '-', '_' and '.', at most 63, beginning and "
    "ending with a letter or digit";
constexpr std::string_view kLabelValue =
    "letters, digits, '-', '_' and '.', at most 63, beginning and ending with a letter or digit; "
    "or nothing";

// Of Kubernetes, keys and values together.
constexpr size_t kMostAnnotations = size_t{256} << 10;
// Counts of Kubernetes have 32 bits.
constexpr int64_t kMostCounted = INT32_MAX;

std::string_view text_of(const json::value& value) {
  return value.get_string();
}

void check_name_of(const json::value& value, std::string_view where, Findings& findings) {
  if (!is_dns_subdomain(text_of(value)))
    add_problem(findings, where, fmt::format("{} is no name", in_quotes(text_of(value))),
                fmt::format("a name is {}", kSubdomain));
}

void check_key(std::string_view key, std::string_view what, std::string_view where,
               Findings& findings) {
  if (!is_label_key(key))
    add_problem(findings, where, fmt::format("{} is no key of {}", in_quotes(key), what),
                fmt::format("a key is {}", kKey));
}

// The number, or nothing and a problem. Values of another type were found before.
std::optional<int64_t> counted_from(int64_t least, const json::value& value, std::string_view where,
                                    Findings& findings) {
  const bool is_large = value.is_uint64();
  if (!is_large && !value.is_int64()) return std::nullopt;
  const int64_t number = is_large ? INT64_MAX : value.get_int64();
  if (number >= least && number <= kMostCounted) return number;
  add_problem(findings, where,
              fmt::format("{} is not between {} and {}", to_text(value), least, kMostCounted));
  return std::nullopt;
}

void check_gpu_counts(const json::value& value, int64_t least, std::string_view where,
                      Findings& findings) {
  std::map<std::string, std::string> first_spelling;  // by family
  for (const auto& member : value.get_object()) {
    const std::string at = pointer(where, member.key());
    counted_from(least, member.value(), at, findings);
    const GpuFamily family = gpu_family(member.key());
    if (family.empty()) {
      add_problem(findings, at, fmt::format("{} is no GPU family", in_quotes(member.key())),
                  "write it as NVIDIA-H100");
      continue;
    }
    const auto [known, is_first] = first_spelling.emplace(family.key, member.key());
    if (!is_first)
      add_problem(findings, at,
                  fmt::format("{} and {} are one family, {}", in_quotes(known->second),
                              in_quotes(member.key()), printable(family.shown)),
                  "write one number for both");
  }
}

// A label that the document knows, written with a slip, would go unheard.
void warn_of_slips(std::string_view key, std::string_view where, Findings& findings) {
  constexpr std::string_view kDomain = "palette.ai/";
  const std::vector<std::string> known = {"min-nodes"};
  if (!key.starts_with(kDomain) || key == "palette.ai/min-nodes") return;
  if (close_matches(key.substr(kDomain.size()), known).empty()) return;
  findings.warnings.push_back({std::string(where),
                               fmt::format("{} is no label that is read", in_quotes(key)),
                               "did you mean palette.ai/min-nodes?"});
}

}  // namespace

void add_problem(Findings& findings, std::string_view where, std::string message,
                 std::string suggestion) {
  findings.problems.push_back({std::string(where), std::move(message), std::move(suggestion)});
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 80;
  const bool fits = text.size() <= kLongest;
  return fmt::format("\"{}{}\"", printable(text.substr(0, kLongest)), fits ? "" : "…");
}

// --- names and labels ----------------------------------------------------------------------------

void check_manifest_name(const json::value& value, std::string_view where, Findings& findings) {
  check_name_of(value, where, findings);
}

void check_dns_label(const json::value& value, std::string_view where, Findings& findings) {
  if (!is_dns_label(text_of(value)))
    add_problem(findings, where, fmt::format("{} is no namespace", in_quotes(text_of(value))),
                fmt::format("a namespace is {}", kLabel));
}

void check_manifest_names(const json::value& value, std::string_view where, Findings& findings) {
  const json::array& names = value.get_array();
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i].is_string()) check_name_of(names[i], pointer(where, std::to_string(i)), findings);
}

void check_labels(const json::value& value, std::string_view where, Findings& findings) {
  for (const auto& member : value.get_object()) {
    const std::string at = pointer(where, member.key());
    check_key(member.key(), "a label", at, findings);
    warn_of_slips(member.key(), at, findings);
    if (member.value().is_string() && !is_label_value(text_of(member.value())))
      add_problem(findings, at,
                  fmt::format("{} is no value of a label", in_quotes(text_of(member.value()))),
                  fmt::format("a value is {}", kLabelValue));
  }
}

void check_annotations(const json::value& value, std::string_view where, Findings& findings) {
  size_t bytes = 0;
  for (const auto& member : value.get_object()) {
    // Kubernetes lets capitals into the domain of an annotation's key and of no other
    check_key(lower(member.key()), "an annotation", pointer(where, member.key()), findings);
    bytes += member.key().size();
    if (member.value().is_string()) bytes += member.value().get_string().size();
  }
  if (bytes > kMostAnnotations)
    add_problem(
        findings, where,
        fmt::format("annotations of {} bytes; Kubernetes takes {}", bytes, kMostAnnotations));
}

void check_min_nodes_label(const json::value& value, std::string_view where, Findings& findings) {
  const auto count = parse_count(text_of(value), "palette.ai/min-nodes");
  if (!count || *count > kMostCounted)
    add_problem(findings, where,
                fmt::format("{} is no whole number from 0 on", in_quotes(text_of(value))),
                "such as '3'");
}

// --- nodes ---------------------------------------------------------------------------------------

void check_node_count(const json::value& value, std::string_view where, Findings& findings) {
  if (value != 1 && value != 3 && value != 5)
    add_problem(findings, where,
                fmt::format("{} nodes of a control plane: must be 1, 3 or 5 to maintain quorum",
                            to_text(value)));
}

void check_count(const json::value& value, std::string_view where, Findings& findings) {
  counted_from(0, value, where, findings);
}

void check_taint_key(const json::value& value, std::string_view where, Findings& findings) {
  check_key(text_of(value), "a taint", where, findings);
}

void check_taint_value(const json::value& value, std::string_view where, Findings& findings) {
  if (!is_label_value(text_of(value)))
    add_problem(findings, where,
                fmt::format("{} is no value of a taint", in_quotes(text_of(value))),
                fmt::format("a value is {}", kLabelValue));
}

void check_taint_effect(const json::value& value, std::string_view where, Findings& findings) {
  const std::vector<std::string> known = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  if (std::ranges::find(known, text_of(value)) != known.end()) return;
  const std::string close = did_you_mean(text_of(value), known);
  add_problem(findings, where, fmt::format("{} is no effect", in_quotes(text_of(value))),
              close.empty() ? fmt::format("one of {}", join(known, ", ")) : close);
}

void check_taints(const json::value& value, std::string_view where, Findings& findings) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  const json::array& taints = value.get_array();
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string_view key = text_or(taints[i], "key", "");
    const std::string_view effect = text_or(taints[i], "effect", "");
    if (key.empty() || effect.empty() || seen.emplace(key, effect).second) continue;
    add_problem(
        findings, pointer(where, std::to_string(i)),
        fmt::format("a second taint {} of {}: a node has one", in_quotes(key), printable(effect)));
  }
}

void check_profile(const json::value& value, std::string_view where, Findings& findings) {
  const json::value* const edge = find(value, "edge");
  const json::value* const two = edge == nullptr ? nullptr : find(*edge, "isTwoNode");
  const json::value* const plane = find(value, "controlPlaneDefaults");
  const json::value* const count = plane == nullptr ? nullptr : find(*plane, "nodeCount");
  if (two == nullptr || *two != true || count == nullptr || !count->is_int64() || *count == 1)
    return;
  add_problem(findings, pointer(pointer(where, "edge"), "isTwoNode"),
              fmt::format("a two-node cluster is one control plane and its standby, but "
                          "controlPlaneDefaults.nodeCount is {}",
                          to_text(*count)),
              "write nodeCount: 1 or isTwoNode: false");
}

// --- what a platform asks for --------------------------------------------------------------------

void check_gpu_limits(const json::value& value, std::string_view where, Findings& findings) {
  check_gpu_counts(value, 0, where, findings);
}

void check_gpu_request(const json::value& value, std::string_view where, Findings& findings) {
  check_gpu_counts(value, 1, where, findings);
}

void check_gpu_memory(const json::value& value, std::string_view where, Findings& findings) {
  const auto bytes = parse_gpu_memory(text_of(value));
  if (!bytes) add_problem(findings, where, bytes.error().message, "such as 80G or 81920MiB");
}

void check_allocation_mode(const json::value& value, std::string_view where, Findings& findings) {
  if (find_allocation_mode(text_of(value))) return;
  const std::vector<std::string> known = {std::string(name(AllocationMode::dedicated)),
                                          std::string(name(AllocationMode::shared))};
  const std::string close = did_you_mean(text_of(value), known);
  add_problem(findings, where, fmt::format("{} is no mode", in_quotes(text_of(value))),
              close.empty() ? join(known, " or ") : close);
}

void check_architecture(const json::value& value, std::string_view where, Findings& findings) {
  const std::string_view text = text_of(value);
  const std::string word = lower(text);
  if (word == "amd64" || word == "arm64") return;
  const std::vector<std::string> known = {"AMD64", "ARM64"};
  const std::string close = word == "x86_64"    ? "did you mean AMD64?"
                            : word == "aarch64" ? "did you mean ARM64?"
                                                : did_you_mean(text, known);
  add_problem(findings, where, fmt::format("{} is no architecture", in_quotes(text)),
              close.empty() ? "AMD64 or ARM64" : close);
}

void check_resource_groups(const json::value& value, std::string_view where, Findings& findings) {
  constexpr std::string_view kPrefix = "palette.ai.rg/";
  for (const auto& member : value.get_object()) {
    const std::string_view key = member.key();
    if (!key.empty() && !key.starts_with(kPrefix)) continue;
    add_problem(findings, pointer(where, key),
                fmt::format("{} is no resource group", in_quotes(key)),
                key.size() > kPrefix.size() ? fmt::format("without the prefix of the tag: {}",
                                                          printable(key.substr(kPrefix.size())))
                                            : "such as network-pool");
  }
}

}  // namespace exa
