// A capture is everything a probe read, verbatim: it can be saved, sent to support and replayed. A
// reader turns a capture into an inventory and does nothing else (pure: no clock, no I/O).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "hardware/inventory.h"

namespace exa {

struct CapturedOutput {
  std::string name;  // which question this answers: "scontrol show node", "GET /api/v1/nodes"
  std::vector<std::string> argv;  // what was run; empty for a file or an HTTP request
  int exit_code = 0;              // for HTTP: 0, or the status when it is not 200
  std::string out;
  std::string err;

  bool operator==(const CapturedOutput&) const = default;
};

struct Capture {
  ClusterKind kind = ClusterKind::host;
  Time taken_at;
  std::string transport;  // "local", "ssh login@host", "https://…", "file"
  std::vector<CapturedOutput> outputs;

  // Raw output of a tool that somebody handed in: when and where it was printed is not known.
  bool is_handed_in() const { return transport == "file"; }

  const CapturedOutput* find(std::string_view name) const;  // nullptr when that was not asked
};

json::value to_json(const Capture& capture);
Result<Capture> capture_from_json(const json::value& value);

}  // namespace exa
