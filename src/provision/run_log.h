// The log of a run: what its programs print, line by line, without secrets and control characters,
// in a file that grows as they print and never beyond its limit. Of a flood the beginning and the
// end stay, and a line between them says how much was cut.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"

namespace exa {

class RunLog {
 public:
  // `line` gets each line as it was kept. A file that cannot be written (a full disk) ends no run:
  // text() has what the file lacks.
  RunLog(int file, int64_t limit_bytes, const std::vector<std::string>& secrets,
         std::function<void(std::string_view)> line);

  void add(std::string_view bytes);
  void finish();  // the last line may have no end

  std::string text() const;
  int64_t lines() const { return lines_; }
  int64_t cut_bytes() const { return cut_; }

 private:
  void end_line();
  std::string shown(std::string_view line, bool is_cut) const;
  void keep(std::string line);
  void shorten_tail();
  void write_new();

  const Descriptor file_;
  const size_t half_;                 // the limit of each of the two parts
  const size_t longest_line_;         // more of it is cut
  std::vector<std::string> secrets_;  // lines of them, the longest first
  const std::function<void(std::string_view)> line_;
  std::string pending_;
  int64_t pending_cut_ = 0;
  std::string head_;
  bool head_is_full_ = false;
  std::string note_;    // how much was cut between them; empty: nothing
  std::string tail_;    // up to twice its half, so that shortening it is rare
  size_t written_ = 0;  // of all three, what the file has
  int64_t lines_ = 0;
  int64_t cut_ = 0;
};

}  // namespace exa
