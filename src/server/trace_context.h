// W3C Trace Context, level 1: the header traceparent, and ids for requests. Pure but for
// RequestIds.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

namespace exa {

struct TraceContext {
  std::string trace_id;  // 32 hexadecimal digits, not all 0
};

// nullopt for a header that breaks the rules: as if there were none.
std::optional<TraceContext> parse_traceparent(std::string_view header);

// Ids that no two requests share: random for this process, then counted. Thread-safe.
class RequestIds {
 public:
  RequestIds();
  std::string next();

 private:
  std::string process_;
  std::atomic<uint64_t> count_ = 0;
};

}  // namespace exa
