#include "catalogue/anchored_pattern.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

using Characters = AnchoredPattern::Characters;
using Step = AnchoredPattern::Step;
using Kind = Step::Kind;

constexpr size_t kMostSteps = 4096;
constexpr int kMostTimes = 1000;
constexpr int kDeepest = 50;
constexpr std::string_view kSyntax = R"(\^$.*+?()[]{}|/)";

struct Part {
  enum class Kind { characters, sequence, choice, repeat } kind = Kind::sequence;
  Characters set;           // characters
  std::vector<Part> parts;  // sequence, choice; of repeat: one
  int least = 0;            // repeat
  int most = 0;             // -1: without end
};

Characters of_range(char first, char last) {
  Characters set;
  for (int c = first; c <= last; ++c) set.ascii.set(static_cast<size_t>(c));
  return set;
}

void add(Characters& set, const Characters& more) {
  set.ascii |= more.ascii;
  set.others = set.others || more.others;
}

Characters digits() {
  return of_range('0', '9');
}

Characters word_characters() {
  Characters set = digits();
  add(set, of_range('a', 'z'));
  add(set, of_range('A', 'Z'));
  add(set, of_range('_', '_'));
  return set;
}

Characters any_but_line_ends() {
  Characters set;
  set.ascii.set();
  set.ascii.reset('\n');
  set.ascii.reset('\r');
  set.others = true;
  return set;
}

// Recursive descent over what stands between ^ and $.
class Parser {
 public:
  Parser(std::string_view text, size_t offset) : text_(text), offset_(offset) {}

  Result<Part> whole() {
    EXA_ASSIGN(Part part, sequence(0));
    if (at_ == text_.size()) return part;
    if (text_[at_] == '|') return refuse("alternatives stand in a group: ^(a|b)$");
    return refuse("a ) without its (");
  }

 private:
  Failure refuse(std::string_view why) const {
    return fail(Code::invalid_input, fmt::format("character {}: {}", at_ + offset_ + 1, why));
  }
  bool has() const { return at_ < text_.size(); }
  bool eat(char c) {
    if (!has() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<Part> sequence(int depth) {
    Part result;
    while (has() && text_[at_] != '|' && text_[at_] != ')') {
      EXA_ASSIGN(Part part, atom(depth));
      EXA_ASSIGN(Part repeated, quantified(std::move(part)));
      result.parts.push_back(std::move(repeated));
    }
    return result;
  }

  Result<Part> group(int depth) {
    if (depth == kDeepest) return refuse(fmt::format("more than {} groups in groups", kDeepest));
    if (has() && text_[at_] == '?') return refuse("(? is not supported: write a plain group");
    Part result;
    result.kind = Part::Kind::choice;
    do {
      EXA_ASSIGN(Part part, sequence(depth + 1));
      result.parts.push_back(std::move(part));
    } while (eat('|'));
    if (!eat(')')) return refuse("a ( is not closed");
    return result;
  }

  static Part of(const Characters& set) {
    Part part;
    part.kind = Part::Kind::characters;
    part.set = set;
    return part;
  }

  Result<Part> atom(int depth) {
    const char c = text_[at_];
    if (c == '^' || c == '$')
      return refuse(fmt::format("{} stands only at an end; \\{} is the character", c, c));
    if (c == '*' || c == '+' || c == '?' || c == '{')
      return refuse(fmt::format("{} has nothing before it to repeat", c));
    if (c == ']' || c == '}') return refuse(fmt::format("write \\{} for the character", c));
    if (c < ' ' || c > '~') return refuse("only printable ASCII may stand in a pattern");
    ++at_;
    if (c == '(') return group(depth);
    if (c == '.') return of(any_but_line_ends());
    if (c == '[') {
      EXA_ASSIGN(const Characters set, bracketed());
      return of(set);
    }
    if (c != '\\') return of(of_range(c, c));
    EXA_ASSIGN(const Characters set, escaped(false));
    return of(set);
  }

  // After the backslash.
  Result<Characters> escaped(bool in_class) {
    if (!has()) return refuse("a \\ at the end");
    const char c = text_[at_++];
    if (c == 'd') return digits();
    if (c == 'w') return word_characters();
    if (kSyntax.find(c) != kSyntax.npos || (in_class && c == '-')) return of_range(c, c);
    --at_;
    return refuse("only \\d, \\w and \\ before a character of the syntax are supported");
  }

  Result<Characters> bracketed() {
    const bool negated = eat('^');
    Characters set;
    bool empty = true;
    while (!eat(']')) {
      EXA_ASSIGN(const Characters one, class_character());
      empty = false;
      const bool is_range = at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']';
      if (!is_range) {
        add(set, one);
        continue;
      }
      ++at_;
      EXA_ASSIGN(const Characters last, class_character());
      if (one.ascii.count() != 1 || last.ascii.count() != 1) return refuse("a range of classes");
      if (lowest(one) > lowest(last)) return refuse("a range that runs backwards");
      add(set, of_range(lowest(one), lowest(last)));
    }
    if (empty) return refuse("an empty class");
    if (negated) {
      set.ascii.flip();
      set.others = true;
    }
    return set;
  }

  Result<Characters> class_character() {
    if (!has()) return refuse("a [ is not closed");
    const char c = text_[at_];
    if (c == '[') return refuse("write \\[ for the character");
    if (c < ' ' || c > '~') return refuse("only printable ASCII may stand in a pattern");
    ++at_;
    return c == '\\' ? escaped(true) : of_range(c, c);
  }

  static char lowest(const Characters& set) {
    size_t c = 0;
    while (c < 127 && !set.ascii.test(c)) ++c;
    return static_cast<char>(c);
  }

  std::optional<int> number() {
    const size_t begin = at_;
    int value = 0;
    while (has() && text_[at_] >= '0' && text_[at_] <= '9' && value <= kMostTimes)
      value = value * 10 + (text_[at_++] - '0');
    if (at_ == begin) return std::nullopt;
    return value;
  }

  Result<Part> quantified(Part part) {
    Part repeat;
    repeat.kind = Part::Kind::repeat;
    if (eat('*')) {
      repeat.most = -1;
    } else if (eat('+')) {
      repeat.least = 1;
      repeat.most = -1;
    } else if (eat('?')) {
      repeat.most = 1;
    } else if (eat('{')) {
      EXA_TRY(counts(repeat));
    } else {
      return part;
    }
    if (has() && (text_[at_] == '?' || text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '{'))
      return refuse("one repetition follows another");
    repeat.parts.push_back(std::move(part));
    return repeat;
  }

  Result<void> counts(Part& repeat) {
    const auto least = number();
    if (!least) return refuse("write {3}, {1,8} or {2,}");
    repeat.least = repeat.most = *least;
    if (eat(',')) repeat.most = number().value_or(-1);
    if (repeat.least > kMostTimes || repeat.most > kMostTimes)
      return refuse(fmt::format("counts go to {}", kMostTimes));
    if (!eat('}')) return refuse("write {3}, {1,8} or {2,}");
    if (repeat.most >= 0 && repeat.most < repeat.least)
      return refuse("a count that runs backwards");
    return {};
  }

  std::string_view text_;
  size_t offset_;
  size_t at_ = 0;
};

// Steps of the parts, one after another. False: more than kMostSteps.
class Emitter {
 public:
  explicit Emitter(AnchoredPattern& pattern) : pattern_(pattern) {}

  bool emit(const Part& part) {
    // what makes no step, repeated many times over, takes its time too
    if (++emitted_ > 16 * kMostSteps) return false;
    switch (part.kind) {
      case Part::Kind::characters:
        pattern_.sets.push_back(part.set);
        return step(Kind::characters, pattern_.sets.size() - 1);
      case Part::Kind::sequence:
        return std::ranges::all_of(part.parts, [&](const Part& each) { return emit(each); });
      case Part::Kind::choice:
        return choice(part);
      case Part::Kind::repeat:
        return repeat(part);
    }
    return false;
  }

  bool step(Kind kind, size_t a = 0, size_t b = 0) {
    if (here() == kMostSteps) return false;
    pattern_.steps.push_back({kind, static_cast<uint32_t>(a), static_cast<uint32_t>(b)});
    return true;
  }

 private:
  size_t here() const { return pattern_.steps.size(); }

  bool choice(const Part& part) {
    std::vector<size_t> ends;
    for (size_t i = 0; i < part.parts.size(); ++i) {
      const bool is_last = i + 1 == part.parts.size();
      const size_t split = here();
      if (!is_last && !step(Kind::split, split + 1)) return false;
      if (!emit(part.parts[i])) return false;
      if (is_last) break;
      ends.push_back(here());
      if (!step(Kind::jump)) return false;
      pattern_.steps[split].b = static_cast<uint32_t>(here());
    }
    for (const size_t end : ends) pattern_.steps[end].a = static_cast<uint32_t>(here());
    return true;
  }

  bool repeat(const Part& part) {
    const Part& inner = part.parts.front();
    for (int i = 0; i < part.least; ++i)
      if (!emit(inner)) return false;
    if (part.most < 0) {
      const size_t split = here();
      if (!step(Kind::split, split + 1) || !emit(inner) || !step(Kind::jump, split)) return false;
      pattern_.steps[split].b = static_cast<uint32_t>(here());
      return true;
    }
    std::vector<size_t> splits;
    for (int i = part.least; i < part.most; ++i) {
      splits.push_back(here());
      if (!step(Kind::split, here() + 1) || !emit(inner)) return false;
    }
    for (const size_t split : splits) pattern_.steps[split].b = static_cast<uint32_t>(here());
    return true;
  }

  AnchoredPattern& pattern_;
  size_t emitted_ = 0;
};

// The steps at which the text may stand, each once.
class Standing {
 public:
  explicit Standing(const AnchoredPattern& pattern)
      : pattern_(pattern), seen_(pattern.steps.size(), 0) {}

  void begin() {
    at_.clear();
    ++round_;
    done_ = false;
  }

  void add(uint32_t first) {
    open_.push_back(first);
    while (!open_.empty()) {
      const uint32_t at = open_.back();
      open_.pop_back();
      if (seen_[at] == round_) continue;
      seen_[at] = round_;
      const Step& step = pattern_.steps[at];
      if (step.kind == Kind::characters) at_.push_back(at);
      if (step.kind == Kind::done) done_ = true;
      if (step.kind == Kind::jump || step.kind == Kind::split) open_.push_back(step.a);
      if (step.kind == Kind::split) open_.push_back(step.b);
    }
  }

  const std::vector<uint32_t>& at() const { return at_; }
  bool done() const { return done_; }

 private:
  const AnchoredPattern& pattern_;
  std::vector<uint64_t> seen_;  // in which round
  std::vector<uint32_t> at_;
  std::vector<uint32_t> open_;
  uint64_t round_ = 0;
  bool done_ = false;
};

}  // namespace

Result<AnchoredPattern> compile_pattern(std::string_view text) {
  if (text.size() > kLongestPattern)
    return fail(Code::invalid_input, fmt::format("has {} characters; at most {} are taken",
                                                 text.size(), kLongestPattern));
  const bool ends = text.size() >= 2 && text.front() == '^' && text.back() == '$' &&
                    (text.size() - 2 - text.find_last_not_of('\\', text.size() - 2)) % 2 == 0;
  if (!ends)
    return fail(Code::invalid_input,
                "must begin with ^ and end with $, so that it means all of the text");
  EXA_ASSIGN(const Part part, Parser(text.substr(1, text.size() - 2), 1).whole());
  AnchoredPattern pattern;
  Emitter emitter(pattern);
  if (!emitter.emit(part) || !emitter.step(Kind::done))
    return fail(Code::invalid_input, "repeats too much inside of what is repeated");
  return pattern;
}

bool matches(const AnchoredPattern& pattern, std::string_view text) {
  Standing even(pattern);
  Standing odd(pattern);
  Standing* now = &even;
  Standing* next = &odd;
  now->begin();
  now->add(0);
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (c.length == 0) return false;
    next->begin();
    for (const uint32_t step : now->at()) {
      const Characters& set = pattern.sets[pattern.steps[step].a];
      const bool is_line_end = c.value == 0x2028 || c.value == 0x2029;
      const bool fits = c.value < 128 ? set.ascii.test(c.value)
                                      : set.others && !(is_line_end && !set.ascii.test('\n'));
      if (fits) next->add(step + 1);
    }
    if (next->at().empty() && !next->done()) return false;
    std::swap(now, next);
    at += c.length;
  }
  return now->done();
}

}  // namespace exa
