// How far a long piece of work has come, told to whoever waits for it; and whether they still do.
// The work reports between its parts and ends with `interrupted` once it is no longer wanted, with
// nothing half done: it stops before the transaction that would have kept what it found.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace exa {

class Progress {
 public:
  virtual ~Progress() = default;

  // `done` of `total` (0: nobody knows) of `what`, a plural: "entries", "questions". The thread
  // that works; cheap enough to be called for every part.
  virtual void at(std::string_view what, int64_t done, int64_t total) = 0;
  virtual bool cancelled() const = 0;

  // Reports, and fails with `interrupted` when the work is no longer wanted.
  Result<void> step(std::string_view what, int64_t done, int64_t total) {
    at(what, done, total);
    if (!cancelled()) return {};
    return fail(Code::interrupted, "it was ended before it was done; nothing was changed");
  }
};

// Nobody watches and nobody cancels.
class Unwatched final : public Progress {
 public:
  void at(std::string_view, int64_t, int64_t) override {}
  bool cancelled() const override { return false; }
};
inline Progress& unwatched() {
  static Unwatched progress;  // without state: any thread
  return progress;
}

}  // namespace exa
