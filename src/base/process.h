// Running another program: an argument vector, never a shell; output collected up to a limit; a
// deadline after which the whole process group is killed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"

namespace exa {

struct Command {
  std::vector<std::string> argv;  // argv[0] is looked up on PATH when it has no slash
  std::vector<std::pair<std::string, std::string>> extra_env;  // added to the present environment
  std::string input;                                           // given on standard input
  Duration timeout = seconds(30);
  size_t max_output = size_t{1} << 30;  // per stream; more is an error, not a cut
  std::function<bool()> unwanted{};     // asked while it runs; once true it is killed
};

struct Finished {
  int exit_code = 0;  // 128+signal when killed
  std::string out;
  std::string err;
};

// Thread-safe. Fails with not_found (no such program), probe_failed (time or output limit),
// interrupted (unwanted).
Result<Finished> run_command(const Command& command);

// Full path of a program on PATH, if there is one.
std::optional<std::string> find_program(const std::string& name);
// The same in these folders, written as PATH is.
std::optional<std::string> find_program(const std::string& name, std::string_view folders);

}  // namespace exa
