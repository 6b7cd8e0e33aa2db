#include "discover/slurm_state.h"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

enum Fact : uint32_t {
  kNothing = 0,  // known, and changes nothing
  kIdle = 1 << 0,
  kBusy = 1 << 1,
  kDown = 1 << 2,
  kRefused = 1 << 3,
  kDrain = 1 << 4,
  kPoweredDown = 1 << 5,
  kNotResponding = 1 << 6,
  kStarting = 1 << 7,
  kReserved = 1 << 8,
  kFuture = 1 << 9,
};

struct Word {
  std::string_view word;
  uint32_t facts;
};

// scontrol's words, sinfo's long (%T) and short (%t) words, and those of releases back to 20.02.
constexpr Word kWords[] = {
    {"allocated", kBusy},
    {"alloc", kBusy},
    {"mixed", kBusy},
    {"mix", kBusy},
    {"completing", kBusy},
    {"comp", kBusy},
    {"idle", kIdle},
    {"planned", kIdle},  // idle, with a job expected; backfill still uses it
    {"plnd", kIdle},
    {"down", kDown},
    {"error", kDown},
    {"err", kDown},
    {"fail", kDown},
    {"failing", kDown | kBusy},
    {"failg", kDown | kBusy},
    {"invalid_reg", kRefused},
    {"inval", kRefused},
    {"drain", kDrain},
    {"drained", kDrain},
    {"draining", kDrain | kBusy},
    {"drng", kDrain | kBusy},
    {"power_drain", kDrain},
    {"powered_down", kPoweredDown},
    {"power", kPoweredDown},  // before 21.08: in power-saving mode
    {"powering_down", kPoweredDown},
    {"pow_dn", kPoweredDown},
    {"power_down", kPoweredDown},  // asked for; no new job starts
    {"not_responding", kNotResponding},
    {"no_respond", kNotResponding},
    {"powering_up", kStarting},  // not seen up yet
    {"pow_up", kStarting},
    {"power_up", kStarting},
    {"reboot", kStarting},
    {"boot", kStarting},
    {"reboot_issued", kStarting},
    {"maint", kReserved},
    {"maintenance", kReserved},
    {"reserved", kReserved},
    {"resv", kReserved},
    {"future", kFuture},
    {"futr", kFuture},
    {"unknown", kNothing},
    {"unk", kNothing},
    {"invalid", kNothing},
    {"cloud", kNothing},
    {"dynamic_norm", kNothing},
    {"dynamic_future", kNothing},  // made from a FUTURE node, and there now
    {"external", kNothing},
    {"blocked", kNothing},  // by topology/block for one job; the node itself is well
    {"reboot_requested", kNothing},
    {"reboot_cancel", kNothing},
    {"reboot_canceled", kNothing},
    {"resume", kNothing},
    {"undrain", kNothing},
    {"perfctrs", kNothing},
    {"npc", kNothing},
    {"net", kNothing},
};

// What sinfo appends to a word; several may follow each other.
std::optional<uint32_t> suffix_facts(char c) {
  switch (c) {
    case '*':
      return kNotResponding;
    case '~':  // powered off
    case '!':  // power-down pending
    case '%':  // powering down
      return kPoweredDown;
    case '#':  // powering up or being configured
    case '^':  // reboot issued
      return kStarting;
    case '$':  // maintenance reservation
      return kReserved;
    case '@':  // reboot pending
    case '-':  // planned by backfill
      return kNothing;
    default:
      return std::nullopt;
  }
}

const Word* find_word(std::string_view word) {
  for (const Word& row : kWords)
    if (row.word == word) return &row;
  return nullptr;
}

struct Verdict {
  uint32_t fact;
  Health health;
};

// The first fact that holds decides: the worst and the most lasting come first. DRAIN goes before
// power and response because an operator has to lift it.
constexpr Verdict kVerdicts[] = {
    {kDown, Health::down},
    {kRefused, Health::down},
    {kFuture, Health::unknown},
    {kDrain, Health::drained},
    {kPoweredDown, Health::powered_down},
    {kNotResponding, Health::not_responding},
    {kStarting, Health::powered_down},
    {kReserved, Health::reserved},
    {kIdle | kBusy, Health::usable},
};

}  // namespace

Result<SlurmState> read_slurm_state(std::string_view text) {
  SlurmState state;
  const std::string whole = lower(trim(text));
  bool first = true;
  for (std::string_view word : split(whole, '+')) {
    // "allocated+": sinfo's mark for jobs that are completing beside the running ones
    if (word.empty() && !first) {
      state.facts |= kBusy;
      continue;
    }
    first = false;
    while (!word.empty()) {
      const auto facts = suffix_facts(word.back());
      if (!facts) break;
      state.facts |= *facts;
      word.remove_suffix(1);
    }
    const Word* row = find_word(word);
    if (row == nullptr) {
      return fail(Code::unreadable_output,
                  fmt::format("node state \"{}\" is not known", printable(text.substr(0, 60))));
    }
    state.facts |= row->facts;
  }
  return state;
}

Health health(SlurmState state) {
  for (const Verdict& verdict : kVerdicts) {
    if ((state.facts & verdict.fact) == 0) continue;
    const bool busy = (state.facts & kBusy) != 0;
    return verdict.health == Health::drained && busy ? Health::draining : verdict.health;
  }
  return Health::unknown;
}

bool is_refused(SlurmState state) {
  return (state.facts & kRefused) != 0;
}

}  // namespace exa
