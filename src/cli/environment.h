// Everything the command line takes from the world, passed in: tests run it in-process, main.cc
// gives it the real edges.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/route.h"
#include "base/error.h"
#include "base/time.h"

namespace exa {

// After a broken pipe a command ends quietly; a full disk is an error like any other.
enum class Written { all, reader_gone, failed };

struct Environment {
  std::function<Written(std::string_view)> out;
  std::function<void(std::string_view)> err;
  // Prints a question where a person sees it and waits for a line; nullopt at the end of input.
  std::function<std::optional<std::string>(std::string_view question)> ask;
  // The content of a file, or of standard input for "-", up to `most` bytes.
  std::function<Result<std::string>(const std::string& path, size_t most)> read_file;
  // Replaces the file's content.
  std::function<Result<void>(const std::string& path, std::string_view content)> write_file;
  std::function<std::optional<std::string>(const char* name)> variable;
  std::function<std::string()> working_folder;
  Clock clock;
  // Whether somebody pressed Ctrl-C since this was first asked; from then on the first one only
  // says so, and the second ends the program. Empty: never.
  std::function<bool()> interrupted;

  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  size_t terminal_columns = 0;  // 0: unknown
};

using Send = std::function<Reply(const Request&)>;
// What answers, as the command line names it; empty members: by the environment, then by default.
struct Where {
  std::string data_folder;
  std::string store;   // "postgresql://…": instead of SQLite in the folder
  std::string server;  // an address: no store is opened
};
// Opens what answers requests. Called only when a command needs it, so that help and completion
// touch nothing.
using Connect = std::function<Result<Send>(const Where& where)>;

// The whole command line. `words` without the program's name; the answer is the exit code.
int run_cli(std::span<const std::string> words, std::span<const Route> routes,
            const Environment& environment, const Connect& connect);

}  // namespace exa
