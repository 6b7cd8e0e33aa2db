#include "server/webhook.h"

#include <fmt/format.h>

#include "audit/hmac.h"

namespace exa {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{1000};
constexpr milliseconds kFirstPatience{1000};
constexpr milliseconds kLongestPatience{60'000};
constexpr int64_t kBatch = 500;

}  // namespace

std::string webhook_signature(const Secret& secret, int64_t seconds, std::string_view body) {
  return fmt::format("t={},v1={}", seconds,
                     hmac_sha256_hex(secret.reveal(), fmt::format("{}.{}", seconds, body)));
}

void Webhook::start() {
  thread_ = std::thread([this] { run(); });
}

void Webhook::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Webhook::pause(milliseconds time) {
  std::unique_lock lock(mutex_);
  return !woken_.wait_for(lock, time, [this] { return stopping_; });
}

bool Webhook::owns() {
  if (ownership_ && ownership_->holds()) return true;
  ownership_.reset();
  auto taken = service_.store().try_own("webhook");
  if (taken) ownership_ = *std::move(taken);
  return ownership_ != nullptr;
}

void Webhook::run() {
  do {
    if (owns()) {
      look();
    } else {
      seen_.reset();  // whoever has it tells; later it goes on from where the log then stands
    }
  } while (pause(std::max(kLook, patience_)));
}

void Webhook::look() {
  const auto batch =
      read_value<EventBatch>(service_.store(), [&](Transaction& tx) -> Result<EventBatch> {
        if (!seen_) {
          EXA_ASSIGN(seen_, newest_revision(tx));
        }
        return events_after(tx, *seen_, kBatch);
      });
  if (!batch) {
    seen_.reset();
    return;
  }
  for (const Event& event : batch->events) {
    if (!event.changes.empty() && !send(event)) return;  // this one again, later
    seen_ = event.revision;
  }
  seen_ = batch->seen;
}

bool Webhook::send(const Event& event) {
  HttpRequest request;
  request.method = "POST";
  request.url = target_.url;
  request.body = to_text(to_json(event));
  const int64_t seconds = service_.now().micros / 1'000'000;
  request.headers = {{"Content-Type", "application/json"},
                     {"exa-event", std::to_string(event.revision)},
                     {"exa-signature", webhook_signature(target_.secret, seconds, request.body)}};
  request.timeout = exa::seconds(5);
  request.max_body = size_t{64} << 10;
  const auto reply = client_.send(request);
  const bool taken = reply && reply->status >= 200 && reply->status < 300;
  json::object details{{"revision", event.revision}, {"taken", taken}};
  if (!reply)
    details["error"] = reply.error().message;
  else
    details["status"] = reply->status;
  log_.event(service_.now(), "webhook", std::move(details));
  patience_ = taken ? milliseconds(0) : std::clamp(patience_ * 2, kFirstPatience, kLongestPatience);
  metrics_.set("exa_webhook_failing", "1 while the receiver does not take what it is sent",
               taken ? 0 : 1);
  return taken;
}

}  // namespace exa
