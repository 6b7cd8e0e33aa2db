#include "place/node_selector.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

// Commas outside parentheses.
std::vector<std::string_view> terms_of(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    terms.push_back(trim(text.substr(start, i - start)));
    start = i + 1;
  }
  return terms;
}

bool is_label_text(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./").find(c) != std::string_view::npos;
  });
}

Failure not_a_term(std::string_view term) {
  return fail(invalid("selector", {{"/selector",
                                    fmt::format("\"{}\" is none of KEY=VALUE, KEY!=VALUE, KEY in "
                                                "(A, B), KEY notin (A, B), KEY, !KEY",
                                                printable(term)),
                                    ""}}));
}

const std::string* label_of(const Node& node, std::string_view key) {
  const auto found =
      std::ranges::find_if(node.labels, [&](const auto& l) { return l.first == key; });
  return found == node.labels.end() ? nullptr : &found->second;
}

}  // namespace

Result<NodeSelector> NodeSelector::parse(std::string_view text) {
  NodeSelector selector;
  if (trim(text).empty()) return selector;
  for (const std::string_view term : terms_of(text)) {
    Requirement row;
    std::string_view values;
    if (const size_t open = term.find('('); open != std::string_view::npos) {
      const std::string_view before = trim(term.substr(0, open));
      const size_t blank = before.find_last_of(" \t");
      if (blank == std::string_view::npos || !term.ends_with(')')) return not_a_term(term);
      const std::string_view verb = before.substr(blank + 1);
      if (verb != "in" && verb != "notin") return not_a_term(term);
      row.key = trim(before.substr(0, blank));
      row.op = verb == "in" ? Op::in : Op::not_in;
      values = term.substr(open + 1, term.size() - open - 2);
    } else if (const size_t differs = term.find("!="); differs != std::string_view::npos) {
      row.key = trim(term.substr(0, differs));
      row.op = Op::not_in;
      values = term.substr(differs + 2);
    } else if (const size_t equals = term.find('='); equals != std::string_view::npos) {
      row.key = trim(term.substr(0, equals));
      row.op = Op::in;
      values = term.substr(equals + 1);
      if (values.starts_with('=')) values.remove_prefix(1);
    } else {
      row.op = term.starts_with('!') ? Op::absent : Op::exists;
      row.key = trim(row.op == Op::absent ? term.substr(1) : term);
    }
    if (!is_label_text(row.key)) return not_a_term(term);
    if (row.op == Op::in || row.op == Op::not_in) {
      for (const std::string_view value : split(values, ',')) {
        if (!trim(value).empty() && !is_label_text(trim(value))) return not_a_term(term);
        row.values.emplace_back(trim(value));
      }
    }
    selector.requirements_.push_back(std::move(row));
  }
  return selector;
}

bool NodeSelector::matches(const Node& node) const {
  return std::ranges::all_of(requirements_, [&](const Requirement& row) {
    const std::string* value = label_of(node, row.key);
    const bool featured = std::ranges::find(node.features, row.key) != node.features.end();
    const bool there = value != nullptr || featured;
    const std::string_view written = value == nullptr ? std::string_view() : *value;
    const bool listed = std::ranges::find(row.values, written) != row.values.end();
    switch (row.op) {
      case Op::in:
        return there && listed;
      case Op::not_in:
        return !there || !listed;
      case Op::exists:
        return there;
      case Op::absent:
        return !there;
    }
    return false;
  });
}

}  // namespace exa
