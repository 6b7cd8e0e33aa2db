// Long work as the command line sees it: how far it has come on standard error, waiting for what a
// server goes on with, and leaving it there.
#pragma once

#include <chrono>

#include "base/progress.h"
#include "cli/environment.h"

namespace exa {

// One line on a terminal's standard error, written anew as the work goes on and taken away at its
// end; nothing where standard error is no terminal or must be quiet. Cancelled by an interrupt.
class ShownProgress final : public Progress {
 public:
  ShownProgress(const Environment& environment, bool quiet);
  ~ShownProgress() override;
  ShownProgress(const ShownProgress&) = delete;
  ShownProgress& operator=(const ShownProgress&) = delete;

  void at(std::string_view what, int64_t done, int64_t total) override;
  bool cancelled() const override;
  void clear();

 private:
  const Environment& environment_;
  bool shown_;
  bool there_ = false;  // a line stands on the terminal
  std::chrono::steady_clock::time_point next_;
};

// What an operation came to: the reply that the route would have given at once.
struct Awaited {
  Reply reply;
  std::string route;  // whose reply it is; empty: a problem on the way there
};

// Asks until the operation has ended. When `progress` is cancelled it is left to go on, and the
// reply says how to come back to it.
Awaited await_operation(const Send& send, const std::string& id, Progress& progress);

}  // namespace exa
