// Tells another system when a profile's status changes: one POST for each event that has such
// changes, signed, in order, repeated until it is taken. One replica does it at a time; how far it
// came is in the store, so that another one, or the same one started again, goes on there.
//
//   POST URL
//   content-type: application/json
//   exa-event: 42                          the revision; the same event may come twice
//   exa-signature: t=1764500000,v1=HEX     HMAC-SHA256 of "t.body" with the shared secret
//
// A target that was never told hears of what follows, and so does one whose place in the log is
// gone because the store was restored from an earlier copy.
#pragma once

#include "discover/http.h"
#include "server/access_log.h"
#include "server/metrics.h"
#include "server/owned_name.h"
#include "server/periodic.h"
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
  using Send = std::function<Result<HttpReply>(const HttpRequest&)>;  // by the one thread

  Webhook(Service& service, WebhookTarget target, Send send, AccessLog& log, Metrics& metrics)
      : service_(service),
        target_(std::move(target)),
        send_(std::move(send)),
        log_(log),
        metrics_(metrics),
        ownership_(service.store(), "webhook") {}
  ~Webhook() { stop(); }
  void start(Periodic::Threw threw);
  void stop();  // after the POST that goes on

 private:
  std::chrono::milliseconds look();
  bool mine();
  Result<EventBatch> next_batch();
  Result<void> begin_at_the_end();
  void keep();
  bool send(const Event& event);
  void failing(bool is);

  Service& service_;
  WebhookTarget target_;
  Send send_;
  AccessLog& log_;
  Metrics& metrics_;

  // of the thread
  OwnedName ownership_;
  std::optional<int64_t> seen_;  // revision up to which it was told; none: as the store says
  int64_t kept_ = 0;             // what the store says
  std::chrono::milliseconds patience_{0};
  std::chrono::steady_clock::time_point next_try_;
  Periodic thread_;
};

}  // namespace exa
