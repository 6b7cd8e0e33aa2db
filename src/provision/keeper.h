// The keeper of one program (see provision/contained.h), and what it says.
#pragma once

#include <array>
#include <cstdint>

#include <sys/types.h>

namespace exa {

// Prepared before the fork: what runs after it must not allocate, since another thread may have
// held the allocator's lock.
struct KeeperPlan {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  int folder = -1;
  int rules = -1;
  int held = -1;
  int output = -1;   // standard output of the program
  int printed = -1;  // its standard error
  int control = -1;  // kAsk, kKill, or the end of the pipe
  int status = -1;   // KeeperWords
  int64_t file_limit_bytes = 0;
};

inline constexpr char kAsk = 'T';
inline constexpr char kKill = 'K';

struct KeeperWord {
  enum Kind : int32_t { cannot_prepare, cannot_execute, ended } kind = ended;
  int32_t value = 0;  // an errno, or what waitpid said
  int32_t left_behind = 0;
  int32_t survived = 0;
};

// In the child of a fork, with all signals blocked. Starts the program, waits, kills what is left.
[[noreturn]] void keep(const KeeperPlan& plan);

}  // namespace exa
