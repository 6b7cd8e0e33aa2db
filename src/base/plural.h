// "1 node", "2 nodes": a count with its noun, for sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace exa {

inline std::string counted(int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace exa
