// Tells another system when a profile's status changes: one POST for each event that has such
// changes, signed, in order, repeated until it is taken. One replica does it at a time.
//
//   POST URL
//   content-type: application/json
//   exa-event: 42                          the revision; the same event may come twice
//   exa-signature: t=1764500000,v1=HEX     HMAC-SHA256 of "t.body" with the shared secret
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "discover/http.h"
#include "server/access_log.h"
#include "server/metrics.h"
#include "service/events.h"

namespace exa {

struct WebhookTarget {
  std::string url;  // https://, or http:// to this machine
  Secret secret;
};

// The value of exa-signature. Pure.
std::string webhook_signature(const Secret& secret, int64_t seconds, std::string_view body);

class Webhook {
 public:
  Webhook(Service& service, WebhookTarget target, AccessLog& log, Metrics& metrics)
      : service_(service), target_(std::move(target)), log_(log), metrics_(metrics) {}
  ~Webhook() { stop(); }
  void start();
  void stop();

 private:
  void run();
  bool owns();
  void look();
  bool send(const Event& event);
  bool pause(std::chrono::milliseconds time);  // false: it is to stop

  Service& service_;
  WebhookTarget target_;
  AccessLog& log_;
  Metrics& metrics_;
  HttpClient client_;  // of the thread, like what follows
  std::unique_ptr<Ownership> ownership_;
  std::optional<int64_t> seen_;            // revision; none: from where the log stands
  std::chrono::milliseconds patience_{0};  // before the next try, after failures

  std::mutex mutex_;
  std::condition_variable woken_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace exa
