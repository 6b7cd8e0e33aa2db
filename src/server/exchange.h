// One request and its answer as the server thinks of them, free of the HTTP library. What only the
// transport knows (who is at the other end of a socket) comes with it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace exa {

struct Incoming {
  std::string method;  // "GET"
  std::string target;  // "/api/v1/hardware-profiles?limit=5", as it was sent
  std::string body;
  std::string content_type;
  std::string authorization;
  std::string cookie;
  std::string idempotency_key;
  std::string if_match;
  std::string prefer;
  bool any_state = false;  // the client says that it means whatever is there
  std::string traceparent;
  std::string last_event_id;
  std::string forwarded_for;  // every X-Forwarded-For, in their order
  std::string origin;
  std::string host;
  std::string accept;
  std::string fetch_site;         // Sec-Fetch-Site: a browser's word on where a request came from
  std::string peer;               // "192.0.2.7:41234", "unix:1000"
  std::optional<uid_t> peer_uid;  // at the other end of the unix socket: the kernel's word
  bool tls = false;
};

// Where a stream of events ends up: the connection that asked for it. Any thread.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // False when the reader is gone or too slow to be waited for: there will be no more.
  virtual bool send(std::shared_ptr<const std::string> bytes) = 0;
  virtual void end() = 0;
};

struct Outgoing {
  int status = 200;
  std::string content_type = "application/json";
  std::shared_ptr<const std::string> body;  // shared, so that a cached answer is sent uncopied
  std::vector<std::pair<std::string, std::string>> headers;
  std::string route;      // id in the route table, or "healthz"; for the log and the metrics
  std::string principal;  // who asked
  std::string request_id;
  std::string trace_id;
  // Set for an answer that goes on: called once its head is sent.
  std::function<void(std::shared_ptr<EventSink>)> stream;
};

}  // namespace exa
