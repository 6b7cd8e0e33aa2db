// What the server answers, whatever brought the request: who asks, may they, which route, the
// answer. Everything HTTP-specific about *meaning* is here (CSRF, health, cache, problem
// documents); bytes, sockets and time limits are connection.h's.
#pragma once

#include "api/router.h"
#include "server/access_log.h"
#include "server/door.h"
#include "server/exchange.h"
#include "server/forwarded.h"
#include "server/metrics.h"
#include "server/operation_runner.h"
#include "server/reply_cache.h"
#include "server/session_pages.h"
#include "server/trace_context.h"
#include "server/watch_hub.h"

namespace exa {

class Application {
 public:
  struct Parts {
    Service& service;
    Router& router;
    Door& door;
    OperationRunner& operations;
    WatchHub& watch;
    SessionPages& sessions;
    AccessLog& log;
    Metrics& metrics;
    std::string public_url{};  // as browsers know this server; empty: as each request says
    std::vector<AddressRange> trusted_proxies{};
  };
  explicit Application(const Parts& parts) : parts_(parts) {}

  // No exception leaves any of these: what throws is answered with 500 and told in the log.
  //
  // What can be answered from memory; nullopt: ask `answer`. Any thread, does not wait.
  std::optional<Outgoing> answer_now(const Incoming& incoming);
  // Any thread that may wait for the disk.
  Outgoing answer(const Incoming& incoming);
  // Whether it is a change that takes little, so that many may share one commit (ChangeLane).
  static bool is_small_change(const Incoming& incoming);
  // In place of an answer to a change that could not be kept after all.
  Outgoing not_kept(const Outgoing& answer, const Error& why) const;
  // After the answer was sent, or could not be.
  void answered(const Incoming& incoming, const Outgoing& outgoing, std::chrono::nanoseconds took);

  // Who asks, seen through the proxies that are trusted; for the log and the limits.
  std::string client_of(const std::string& peer, const Incoming& incoming) const {
    return client_behind(peer, incoming.forwarded_for, parts_.trusted_proxies);
  }

  // For what never became a request: broken HTTP, a body too large, a time limit.
  Outgoing refused(int status, std::string_view why);

  // The most bytes that the body of such a request may have.
  static size_t body_limit(std::string_view method, std::string_view target);

  // From now on /readyz says no, so that a load balancer turns away.
  void drain() { draining_ = true; }
  Metrics& metrics() { return parts_.metrics; }
  Store& store() { return parts_.service.store(); }

 private:
  std::optional<Outgoing> from_memory(const Incoming& incoming);
  Outgoing answered_by(const Incoming& incoming, const std::string& id);
  Outgoing ready();
  static std::optional<Outgoing> description(std::string_view target);
  Outgoing scraped();
  Outgoing from_router(const Incoming& incoming, const std::string& id, const Principal& principal);
  Outgoing watched(const Incoming& incoming, const std::string& id, const Principal& principal);
  Result<Principal> still(const Incoming& incoming);  // who watches
  static void note_trace(const Incoming& incoming, Outgoing& outgoing);

  Parts parts_;
  ReplyCache cache_;
  RequestIds ids_;
  std::atomic<bool> draining_ = false;
  std::mutex looking_;
  std::chrono::steady_clock::time_point looked_at_;  // by whoever holds looking_
  std::mutex seen_;
  std::string not_ready_ = "nobody looked yet";  // why; empty: ready
};

// A change that a browser sends with a session cookie must come from the console's own pages.
// nullopt: it does; otherwise why it is refused.
std::optional<std::string> cross_site(const Incoming& incoming, std::string_view public_url);

}  // namespace exa
