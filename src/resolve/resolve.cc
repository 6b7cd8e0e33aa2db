#include "resolve/resolve.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "resolve/fit.h"
#include "resolve/saturating.h"

namespace exa {
namespace {

constexpr std::string_view kSnapshotAge = "snapshot_age";
constexpr std::string_view kDeclaredCapacity = "declared_capacity";

std::string_view plural(int64_t count, std::string_view one, std::string_view many) {
  return count == 1 ? one : many;
}

std::vector<std::string> texts_of(const std::vector<Unread>& unread) {
  std::vector<std::string> texts;
  for (const Unread& row : unread)
    texts.push_back(fmt::format("{} not read: {}", row.what, row.why));
  return texts;
}

// --- how far the snapshot itself can be relied on

Resolution::Seen seen_of(const ResolveInput& input) {
  const Fleet& fleet = *input.seen.fleet;
  Resolution::Seen seen;
  seen.snapshot_id = input.seen.snapshot_id;
  seen.taken_at = input.seen.taken_at;
  seen.age = input.now - input.seen.taken_at;
  seen.max_age = input.max_age;
  seen.declared = input.seen.declared;
  seen.is_as_of = input.as_of_snapshot;
  seen.nodes = fleet.nodes;
  seen.usable_nodes = fleet.usable_nodes;
  seen.unusable = fleet.unusable;
  return seen;
}

// A snapshot from the future is as little a look at the present as an old one.
bool is_stale(const Resolution::Seen& seen) {
  if (seen.is_as_of) return false;
  return seen.age > seen.max_age || seen.age.micros < -seen.max_age.micros;
}

std::string when(const Resolution::Seen& seen) {
  if (seen.declared) return "as declared, not discovered";
  if (seen.is_as_of) return fmt::format("as of {}", format_rfc3339(seen.taken_at));
  if (seen.age.micros < 0)
    return fmt::format("as seen {} from now", format_age({-seen.age.micros}));
  return fmt::format("as seen {} ago", format_age(seen.age));
}

// --- remarks

struct Tainted {
  int64_t nodes = 0;
  std::vector<std::string> taints;
};

int64_t nodes_of_class(const ClassFit& row, ClaimSet claims) {
  Fit only;
  only.classes.push_back(row);
  return nodes_bearing_out(only, claims);
}

std::vector<std::string> remark_on_taints(const Fleet& fleet, const Fit& fit, ClaimSet claims,
                                          int64_t asked) {
  Tainted tainted;
  int64_t all = 0;
  for (const ClassFit& row : fit.classes) {
    const int64_t nodes = nodes_of_class(row, claims);
    const std::string& text = fleet.taints[row.nodes->taints];
    all += nodes;
    if (text.empty() || nodes == 0) continue;
    tainted.nodes += nodes;
    if (std::ranges::find(tainted.taints, text) == tainted.taints.end())
      tainted.taints.push_back(text);
  }
  if (tainted.nodes == 0) return {};
  return {fmt::format("{} of {} fitting {} tainted ({}){}", tainted.nodes, all,
                      plural(all, "node is", "nodes are"), join(tainted.taints, "; "),
                      all - tainted.nodes < asked ? ": the job must tolerate it" : "")};
}

// The document asks one model per node, not per job: said where no model alone has enough nodes.
std::vector<std::string> remark_on_models(const Shape& shape, const Fleet& fleet, const Fit& fit,
                                          ClaimSet claims) {
  if (shape.nodes < 2 || shape.gpu_count == 0) return {};
  std::map<std::string, int64_t> nodes;
  for (const ClassFit& row : fit.classes) {
    std::map<std::string, std::vector<Way>> by_model;
    for (const Way& way : row.ways)
      by_model[way.group == nullptr ? "devices that were not read"
                                    : describe(fleet.models[way.group->model])]
          .push_back(way);
    for (auto& [model, ways] : by_model)
      nodes[model] += nodes_of_class({row.nodes, std::move(ways), row.holding}, claims);
  }
  const bool one_is_enough =
      std::ranges::any_of(nodes, [&](const auto& row) { return row.second >= shape.nodes; });
  if (one_is_enough) return {};
  std::vector<std::string> parts;
  for (const auto& [model, count] : nodes)
    if (count > 0) parts.push_back(fmt::format("{} on {}", model, count));
  return {"the nodes of one job would carry different models: " + join(parts, ", ")};
}

// --- sentences

// "8", "0.5", "32 GiB": an amount of the dimension for people.
std::string amount(const Dimension& dimension, int64_t value) {
  if (dimension.name == "cpu") return format_milli(value);
  if (dimension.name == "memory_gb") return format_bytes(value);
  return std::to_string(value);
}

std::string sentence(const Dimension& dimension) {
  std::string text;
  if (dimension.name == "nodes") {
    text = fmt::format("nodes: {} asked, {} {} ({} usable in total)", dimension.asked,
                       dimension.nodes_that_have, plural(dimension.nodes_that_have, "fits", "fit"),
                       dimension.total.value_or(0));
  } else {
    text = fmt::format("{}: {} asked on each of {} {}, {} on {}", dimension.name,
                       amount(dimension, dimension.asked), dimension.nodes_asked,
                       plural(dimension.nodes_asked, "node", "nodes"),
                       dimension.nodes_that_have == 0 ? "not there" : "there",
                       dimension.nodes_that_have == 0 ? std::string("any")
                                                      : std::to_string(dimension.nodes_that_have));
    if (dimension.largest)
      text += fmt::format(", at most {} on one", amount(dimension, *dimension.largest));
    if (dimension.total) text += fmt::format(", {} in total", amount(dimension, *dimension.total));
  }
  if (!dimension.note.empty()) text += fmt::format(" ({})", dimension.note);
  return text;
}

std::string capacity_reason(const Resolution& answer) {
  std::vector<std::string> parts;
  for (const Dimension& dimension : answer.missing) parts.push_back(sentence(dimension));
  return fmt::format("{}, the usable nodes of {} cannot hold the ask: {}", when(*answer.seen),
                     answer.target, join(parts, "; "));
}

std::string fitting(const Resolution& answer) {
  const int64_t nodes = answer.seen->fitting_nodes;
  return fmt::format("{} {} of {}", nodes, plural(nodes, "node", "nodes"), answer.target);
}

std::string degraded_reason(const Resolution& answer) {
  const bool devices_open = std::ranges::any_of(answer.unconfirmed, [](const std::string& field) {
    return field == "accelerator_family" || field == "gpu_count";
  });
  return fmt::format("{}, {} {} hold the coarse ask; not confirmed: {}", when(*answer.seen),
                     fitting(answer), devices_open ? "may" : "can", join(answer.unconfirmed, ", "));
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

// --- the answer, in the order of semantics §4

void list_unconfirmed(Resolution& answer) {
  for (const FieldVerdict& verdict : answer.verdicts)
    if (verdict.verdict != Match::confirmed) answer.unconfirmed.push_back(verdict.field);
  if (!answer.seen) return;
  if (is_stale(*answer.seen)) answer.unconfirmed.emplace_back(kSnapshotAge);
  if (answer.seen->declared) answer.unconfirmed.emplace_back(kDeclaredCapacity);
}

void leave_unchecked(const ResolveInput& input, Cause cause, Resolution& answer) {
  answer.status = Status::unchecked;
  answer.cause = cause;
  answer.verdicts = verdicts_of_unchecked(input.shape);
  answer.reason = cause == Cause::no_target
                      ? "No target was given, so nothing is claimed"
                      : fmt::format(
                            "{} was never discovered, so nothing is claimed and nothing "
                            "refused",
                            input.target);
  list_unconfirmed(answer);
}

void refuse(const ResolveInput& input, const Comparisons& comparisons, const Fit& fit,
            Resolution& answer) {
  const Shape& shape = input.shape;
  const Fleet& fleet = *input.seen.fleet;
  const bool possible_family =
      shape.accelerator_family == Family::cpu || fleet.may_have_family(shape.accelerator_family);
  answer.status = Status::unresolvable;
  answer.cause = possible_family ? Cause::capacity : Cause::no_such_family;
  answer.missing = missing_dimensions(shape, fleet, comparisons, fit);
  answer.verdicts = verdicts_of_missing(shape, fleet, comparisons, answer.missing, fit.nodes);
  list_unconfirmed(answer);
  answer.reason =
      capitalised(possible_family ? capacity_reason(answer)
                                  : fmt::format("{}, {} has no {} device on any of its {} {}",
                                                when(*answer.seen), input.target,
                                                info(shape.accelerator_family).name, fleet.nodes,
                                                plural(fleet.nodes, "node", "nodes")));
}

Cause cause_of(const Resolution& answer) {
  const bool all_fields = std::ranges::all_of(
      answer.verdicts, [](const FieldVerdict& v) { return v.verdict == Match::confirmed; });
  if (!all_fields) return Cause::unconfirmed;
  if (answer.seen->declared) return Cause::declared_capacity;
  return is_stale(*answer.seen) ? Cause::stale_snapshot : Cause::confirmed;
}

void accept(const ResolveInput& input, const Comparisons& comparisons, const Fit& fit,
            Resolution& answer) {
  const Shape& shape = input.shape;
  const Fleet& fleet = *input.seen.fleet;
  const ClaimSet claims = best_claims(fit, claims_of(shape), shape.nodes);
  answer.verdicts = verdicts_of(shape, fleet, comparisons, fit, claims);
  list_unconfirmed(answer);
  answer.cause = cause_of(answer);
  answer.status = answer.unconfirmed.empty() ? Status::verified : Status::degraded;
  answer.seen->fitting_nodes = nodes_bearing_out(fit, claims);
  if (!input.as_of_snapshot) {
    answer.fits_now = fits_now(shape, fleet, comparisons, fit, claims);
    if (is_stale(*answer.seen) || answer.seen->declared || input.seen.failed)
      answer.fits_now->fits.reset();
  }
  for (std::string& remark : remark_on_taints(fleet, fit, claims, shape.nodes))
    answer.remarks.push_back(std::move(remark));
  for (std::string& remark : remark_on_models(shape, fleet, fit, claims))
    answer.remarks.push_back(std::move(remark));
  answer.reason =
      capitalised(answer.status == Status::verified
                      ? fmt::format("{}, {} can hold the ask", when(*answer.seen), fitting(answer))
                      : degraded_reason(answer));
}

}  // namespace

Ask ask_of(const Shape& shape) {
  Ask ask;
  ask.accelerator_family = shape.accelerator_family;
  ask.nodes = shape.nodes;
  ask.gpus_per_node = shape.gpu_count;
  ask.gpus = saturating_product(shape.gpu_count, shape.nodes);
  ask.gpu_fraction_milli = shape.gpu_fraction_milli;
  ask.mig_profile = shape.mig_profile;
  ask.cpu_milli_per_node = shape.cpu_milli;
  ask.cpu_milli = saturating_product(shape.cpu_milli, shape.nodes);
  ask.memory_bytes_per_node = shape.memory_bytes;
  ask.memory_bytes = saturating_product(shape.memory_bytes, shape.nodes);
  return ask;
}

Resolution resolve(const ResolveInput& input) {
  Resolution answer;
  answer.target = input.target;
  answer.resources = ask_of(input.shape);
  if (const auto& failed = input.seen.failed)
    answer.remarks.push_back(
        fmt::format("the last look failed at {}: {}", format_rfc3339(failed->at), failed->why));
  if (input.target.empty() || input.seen.fleet == nullptr) {
    leave_unchecked(input, input.target.empty() ? Cause::no_target : Cause::no_snapshot, answer);
    return answer;
  }
  answer.seen = seen_of(input);
  for (std::string& text : texts_of(input.seen.fleet->unread))
    answer.remarks.push_back(std::move(text));
  const Comparisons comparisons = compare(input.shape, *input.seen.fleet);
  const Fit found = fit(input.shape, *input.seen.fleet, comparisons);
  if (found.nodes < input.shape.nodes)
    refuse(input, comparisons, found, answer);
  else
    accept(input, comparisons, found, answer);
  return answer;
}

Result<void> check_applicable(const HardwareProfile& profile, Surface surface) {
  const std::vector<Surface>& list = profile.shape.applicability;
  const auto lists = [&](Surface wanted) { return std::ranges::find(list, wanted) != list.end(); };
  if (lists(surface) || lists(Surface::any)) return {};
  std::vector<std::string> names;
  for (const Surface listed : list) names.emplace_back(name(listed));
  return fail(Code::inapplicable,
              fmt::format("{}@{} is not applicable to {}: it lists {}", profile.name,
                          profile.version, name(surface), join(names, ", ")),
              fmt::format("exa hardware profile list --applicability {}", name(surface)));
}

}  // namespace exa
