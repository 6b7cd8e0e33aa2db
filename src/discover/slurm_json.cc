// Slurm's JSON: sinfo and slurmrestd of 22.05 and before print plain numbers and one state; 23.02
// and later print {"set","infinite","number"} and lists. One reader takes both, field by field.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "discover/hostlist.h"
#include "discover/slurm_source.h"

namespace exa {
namespace {

using Number = std::optional<int64_t>;

Failure wrong(std::string_view key, std::string_view expected) {
  return fail(Code::unreadable_output, fmt::format("{}: {} is expected", key, expected));
}

Result<Number> plain_number(const json::value& value, std::string_view key) {
  if (const auto* number = value.if_int64()) {
    return is_unset_number(*number) ? Number() : Number(*number);
  }
  if (const auto* number = value.if_uint64()) {
    if (is_unset_number(*number)) return Number();
  }
  return wrong(key, "a whole number");
}

// nullopt: absent, null, not set, or one of the values that stand for "not set".
Result<Number> number_at(const json::value& node, std::string_view key) {
  const json::value* value = find(node, key);
  if (value == nullptr || value->is_null()) return Number();
  if (!value->is_object()) return plain_number(*value, key);
  const json::value* set = find(*value, "set");
  const json::value* infinite = find(*value, "infinite");
  const json::value* number = find(*value, "number");
  if (set == nullptr || !set->is_bool()) return wrong(key, "{\"set\":…,\"number\":…}");
  if (!set->get_bool()) return Number();
  if (infinite != nullptr && infinite->is_bool() && infinite->get_bool()) return Number();
  if (number == nullptr) return wrong(key, "{\"set\":…,\"number\":…}");
  return plain_number(*number, key);
}

Result<std::string_view> text_at(const json::value& node, std::string_view key) {
  const json::value* value = find(node, key);
  if (value == nullptr || value->is_null()) return std::string_view();
  if (!value->is_string()) return wrong(key, "text");
  return std::string_view(value->get_string());
}

Result<std::optional<std::string_view>> optional_text_at(const json::value& node,
                                                         std::string_view key) {
  if (find(node, key) == nullptr) return std::nullopt;
  EXA_ASSIGN(const auto text, text_at(node, key));
  return text;
}

// A list of texts, or one text with commas.
Result<std::vector<std::string_view>> words_at(const json::value& node, std::string_view key) {
  const json::value* value = find(node, key);
  if (value == nullptr || !value->is_array()) {
    EXA_ASSIGN(const auto text, text_at(node, key));
    return slurm_words(text);
  }
  std::vector<std::string_view> words;
  for (const json::value& word : value->get_array()) {
    if (!word.is_string()) return wrong(key, "a list of texts");
    words.push_back(word.get_string());
  }
  return words;
}

Result<void> read_state(const json::value& node, SlurmNodeFacts& facts) {
  EXA_ASSIGN(auto words, words_at(node, "state"));
  EXA_ASSIGN(const auto flags, words_at(node, "state_flags"));  // 22.05 keeps the flags apart
  if (words.empty()) return wrong("state", "a node state");
  words.insert(words.end(), flags.begin(), flags.end());
  for (const std::string_view word : words) {
    auto state = read_slurm_state(word);
    if (!state) return fail(in_field(std::move(state).error(), "state"));
    facts.state |= *state;
    if (!facts.state_text.empty()) facts.state_text += '+';
    for (const char c : word) {
      facts.state_text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }
  return {};
}

// The first of two spellings that is there; without either, unknown would be a silent guess.
Result<Number> needed_number(const json::value& node, std::string_view key,
                             std::string_view otherwise = {}) {
  if (find(node, key) != nullptr) return number_at(node, key);
  if (!otherwise.empty() && find(node, otherwise) != nullptr) return number_at(node, otherwise);
  return wrong(key, "a number");
}

Result<SlurmNodeFacts> facts_of(const json::value& node) {
  if (!node.is_object()) {
    return fail(Code::unreadable_output, "a node is expected to be an object");
  }
  SlurmNodeFacts facts;
  EXA_ASSIGN(facts.name, text_at(node, "name"));
  EXA_TRY(read_state(node, facts));
  if (find(node, "gres") == nullptr) return wrong("gres", "text");
  EXA_ASSIGN(facts.gres, text_at(node, "gres"));
  EXA_ASSIGN(facts.gres_used, optional_text_at(node, "gres_used"));
  EXA_ASSIGN(facts.gres_drained, text_at(node, "gres_drained"));
  EXA_ASSIGN(facts.configured_tres, optional_text_at(node, "tres"));
  EXA_ASSIGN(facts.allocated_tres, optional_text_at(node, "tres_used"));
  EXA_ASSIGN(facts.cpus, needed_number(node, "effective_cpus", "cpus"));
  EXA_ASSIGN(facts.cpus_allocated, number_at(node, "alloc_cpus"));
  EXA_ASSIGN(facts.memory_mib, needed_number(node, "real_memory"));
  EXA_ASSIGN(facts.memory_allocated_mib, number_at(node, "alloc_memory"));
  EXA_ASSIGN(facts.memory_kept_mib, number_at(node, "specialized_memory"));
  const bool active = find(node, "active_features") != nullptr;
  EXA_ASSIGN(facts.features, words_at(node, active ? "active_features" : "features"));
  EXA_ASSIGN(facts.partitions, words_at(node, "partitions"));
  EXA_ASSIGN(facts.reason, text_at(node, "reason"));
  EXA_ASSIGN(facts.reservation, text_at(node, "reservation"));
  return facts;
}

Result<Node> read_node(const json::value& value, SlurmContext& context) {
  EXA_ASSIGN(const SlurmNodeFacts facts, facts_of(value));
  return node_of(facts, context);
}

// What Slurm says went wrong on its side, with an answer that is otherwise empty.
Result<void> check_errors(const json::value& document, std::string_view tool) {
  const json::value* errors = find(document, "errors");
  if (errors == nullptr || !errors->is_array()) return {};
  for (const json::value& error : errors->get_array()) {
    std::string_view text = text_or(error, "error", "");
    if (text.empty()) text = text_or(error, "description", "an error without a text");
    return fail(
        at_place({Code::unreadable_output, printable(text), {}, "", {}}, tool, "/errors/0", ""));
  }
  return {};
}

Result<json::value> parse_document(std::string_view text, std::string_view tool) {
  auto document = parse_json(text, tool, tool_output_limits());
  if (!document) {
    Error error = std::move(document).error();
    error.code = Code::unreadable_output;
    return fail(std::move(error));
  }
  if (!document->is_object()) {
    return fail(
        at_place({Code::unreadable_output, "an object is expected", {}, "", {}}, tool, "/", ""));
  }
  return document;
}

Result<const json::array*> list_at(const json::value& document, std::string_view key,
                                   std::string_view tool) {
  const json::value* list = find(document, key);
  if (list != nullptr && list->is_array()) return &list->get_array();
  std::string why = fmt::format("a list \"{}\" is expected", key);
  if (find(document, "sinfo") != nullptr) {
    why = "sinfo of this release sums nodes up; \"scontrol show node --json\" lists each";
  }
  return fail(at_place({Code::unreadable_output, why, {}, "", {}}, tool, pointer("", key), ""));
}

void read_meta(const json::value& document, SlurmJson& out) {
  const json::value* meta = find(document, "meta");
  if (meta == nullptr) return;
  for (const std::string_view key : {"slurm", "Slurm"}) {
    const json::value* slurm = find(*meta, key);
    if (slurm == nullptr) continue;
    out.version = text_or(*slurm, "release", "");
    out.cluster = text_or(*slurm, "cluster", "");
  }
}

// ---- jobs ---------------------------------------------------------------------------------------

struct JobShares {
  std::map<std::string, SharesByGres, std::less<>> held;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> cards;  // node, gres name
};

bool holds_resources(const std::vector<std::string_view>& states) {
  constexpr std::string_view kHolding[] = {"RUNNING",   "COMPLETING", "CONFIGURING",
                                           "SUSPENDED", "STOPPED",    "STAGE_OUT"};
  return std::ranges::any_of(states, [&](std::string_view state) {
    return std::ranges::find(kHolding, state) != std::end(kHolding);
  });
}

Result<void> add_shares(const std::string& node, std::string_view detail, JobShares& shares) {
  EXA_ASSIGN(const auto entries, parse_gres(detail, MissingCount::is_an_error));
  for (const Gres& gres : entries) {
    if (gres.name != "shard" && gres.name != "mps") continue;
    const std::string name(gres.name);
    SharesHeld& held = shares.held[node][name];
    if (gres.unset || gres.count > INT32_MAX) return wrong("gres_detail", "a count of shares");
    held.units += gres.count;
    std::string_view cards = gres.detail;
    if (!cards.starts_with("IDX:")) return wrong("gres_detail", "(IDX:…)");
    cards.remove_prefix(4);
    const std::string range = says_nothing(cards) ? "" : fmt::format("[{}]", cards);
    if (range.empty()) continue;
    EXA_ASSIGN(auto indices, expand_hostlist(range, 1024));
    auto& touched = shares.cards[{node, name}];
    for (std::string& index : indices) touched.insert(std::move(index));
    held.cards = static_cast<int64_t>(touched.size());
  }
  return {};
}

Result<void> read_job(const json::value& job, JobShares& shares) {
  EXA_ASSIGN(const auto states, words_at(job, "job_state"));
  if (!holds_resources(states)) return {};
  const json::value* details = find(job, "gres_detail");
  if (details == nullptr || !details->is_array() || details->get_array().empty()) return {};
  EXA_ASSIGN(const auto hosts, text_at(job, "nodes"));
  EXA_ASSIGN(const auto nodes, expand_hostlist(hosts));
  if (nodes.size() != details->get_array().size()) return wrong("gres_detail", "an entry per node");
  for (size_t i = 0; i < nodes.size(); ++i) {
    const json::value& detail = details->get_array()[i];
    if (!detail.is_string()) return wrong("gres_detail", "text");
    EXA_TRY(add_shares(nodes[i], detail.get_string(), shares));
  }
  return {};
}

}  // namespace

Result<SlurmJson> read_slurm_json(std::string_view text, std::string_view tool,
                                  SlurmContext& context) {
  EXA_ASSIGN(const json::value document, parse_document(text, tool));
  EXA_TRY(check_errors(document, tool));
  EXA_ASSIGN(const json::array* list, list_at(document, "nodes", tool));
  SlurmJson out;
  read_meta(document, out);
  for (size_t i = 0; i < list->size(); ++i) {
    auto node = read_node((*list)[i], context);
    if (!node) {
      return fail(at_place(std::move(node).error(), tool, fmt::format("/nodes/{}", i),
                           text_or((*list)[i], "name", "")));
    }
    out.nodes.push_back(std::move(*node));
  }
  return out;
}

Result<std::map<std::string, SharesByGres, std::less<>>> read_shares_of_jobs(
    std::string_view text, std::string_view tool) {
  EXA_ASSIGN(const json::value document, parse_document(text, tool));
  EXA_TRY(check_errors(document, tool));
  EXA_ASSIGN(const json::array* list, list_at(document, "jobs", tool));
  JobShares shares;
  for (size_t i = 0; i < list->size(); ++i) {
    auto read = read_job((*list)[i], shares);
    if (!read) {
      return fail(at_place(std::move(read).error(), tool, fmt::format("/jobs/{}", i), ""));
    }
  }
  return std::move(shares.held);
}

}  // namespace exa
