// The one walk over a log that both the database and a bundle are verified by: entries in order
// against the checkpoints. Stops at the first trouble and remembers it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/checkpoint.h"
#include "audit/merkle.h"
#include "audit/verify.h"

namespace exa {

struct Trouble {
  Finding finding;
  std::string where;
  std::string sentence;
  std::optional<int64_t> first;
  std::optional<int64_t> last;
};

class LogReplay {
 public:
  explicit LogReplay(PublicKey key);

  // All return false from the first trouble on.
  bool expect(std::string_view checkpoint, std::string where);  // before the first row
  bool start();  // after the last expectation, before the first row
  bool row(const LogRow& row);
  bool checkpoint_here(std::string_view checkpoint,
                       std::string where);  // covers exactly the rows so far
  bool refuse(Trouble trouble);

  uint64_t size() const { return tree_.size; }
  Verdict verdict();  // after the last row

 private:
  std::optional<Checkpoint> checked(std::string_view text, const std::string& where);
  bool index_follows(int64_t found);
  bool compare_expected();
  bool compare(const Checkpoint& checkpoint);
  void conclude();

  PublicKey key_;
  std::vector<Checkpoint> expected_;  // by size, no two of one size
  size_t next_expected_ = 0;
  Frontier tree_;
  std::optional<Time> last_time_;
  std::optional<uint64_t> matched_;
  std::optional<Trouble> trouble_;
};

// "entry 7" or "entries 7 to 13".
std::string entries_from_to(uint64_t first, uint64_t last);

}  // namespace exa
