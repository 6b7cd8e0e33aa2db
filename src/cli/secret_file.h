// A secret comes from a file: an argument could be read by everybody on the machine.
#pragma once

#include "base/text.h"
#include "cli/environment.h"
#include "discover/http.h"

namespace exa {

// Without the blanks and the line end around it. `path` as read_file takes it, so "-" is standard
// input.
inline Result<Secret> secret_in_file(const Environment& environment, const std::string& path) {
  constexpr size_t kMostBytes = 4096;
  EXA_ASSIGN(const std::string text, environment.read_file(path, kMostBytes));
  return Secret(std::string(trim(text)));
}

}  // namespace exa
