// An argument vector in which some words are known only where the program runs: the rendezvous of a
// multi-node run comes from the scheduler's node list, never from here (semantics §8). Every
// renderer has its own way to spell such a word; nothing else in a word is ever expanded. Pure.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace exa {

enum class RunTime {
  head_node,  // host name of the first node
  node_rank,  // 0 on the head node
  job_id,     // as the scheduler counts
};

struct Word {
  std::vector<std::variant<std::string, RunTime>> parts;  // joined without a space

  Word() = default;
  Word(std::string literal) { parts.emplace_back(std::move(literal)); }  // NOLINT: a word is a text
  Word(const char* literal) : Word(std::string(literal)) {}              // NOLINT
  Word(std::initializer_list<std::variant<std::string, RunTime>> given) : parts(given) {}

  bool is_literal() const { return parts.size() == 1 && parts[0].index() == 0; }
  bool operator==(const Word&) const = default;
};

using CommandLine = std::vector<Word>;
using Variables = std::vector<std::pair<std::string, std::string>>;

// A line break or a NUL byte: what no script, manifest or line of ssh carries unchanged.
bool breaks_a_line(std::string_view text);

// Whether any word has a part of this kind.
bool mentions(const CommandLine& command, RunTime what);

// A word in which nothing is left for later.
std::optional<std::string> literal(const Word& word);

// Everything that keeps these from reaching a program byte for byte: NUL and line breaks anywhere,
// environment keys that are no identifiers ([A-Za-z_][A-Za-z0-9_]*) or stand there twice, an empty
// program, a program that begins with '-'. `where` prefixes the pointers ("/argv/2",
// "/environment/KEY").
std::vector<Problem> problems_of(const CommandLine& command, const Variables& environment);

}  // namespace exa
