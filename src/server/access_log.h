// One JSON object a line for each request, and for what happens to the server itself. Never a body,
// a query, a header or a secret. Lines are written by a thread of their own, so that a slow disk
// does not hold up an answer. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/time.h"

namespace exa {

class AccessLog {
 public:
  struct Line {
    std::string_view request_id;
    std::string_view trace_id;
    std::string_view method;
    std::string_view path;  // without its query
    std::string_view route;
    std::string_view principal;
    std::string_view peer;
    int status = 0;
    size_t bytes = 0;
    int64_t micros = 0;
  };

  // "": nowhere; "-": standard error; else a file that is appended to, opened again by reopen().
  static Result<std::unique_ptr<AccessLog>> open(const std::string& where);
  ~AccessLog();

  void request(Time now, const Line& line);
  void event(Time now, std::string_view what,
             const json::object& details = {});  // "started", "stopping"
  Result<void> reopen();                         // after the file was moved away by log rotation

 private:
  struct Output;  // one opening of the file, with the thread that writes to it

  explicit AccessLog(std::string where);
  Result<void> start();
  // Whoever writes a line holds on to it, while reopen() puts another in its place.
  std::shared_ptr<const Output> output() const;

  std::string where_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Output> output_;  // none: nowhere
};

}  // namespace exa
