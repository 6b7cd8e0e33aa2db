#include "server/webhook.h"

#include <fmt/format.h>

#include "audit/hmac.h"
#include "service/webhook_told.h"

namespace exa {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{1000};
constexpr milliseconds kFirstPatience{1000};
constexpr milliseconds kLongestPatience{60'000};
constexpr int64_t kBatch = 500;

}  // namespace

std::string webhook_signature(const Secret& secret, int64_t seconds, std::string_view body) {
  return fmt::format("t={},v1={}", seconds,
                     hmac_sha256_hex(secret.reveal(), fmt::format("{}.{}", seconds, body)));
}

void Webhook::start(Periodic::Threw threw) {
  failing(false);
  thread_.start([this] { return look(); }, std::move(threw));
}

void Webhook::stop() {
  thread_.stop();
}

// Whoever else has it goes on from what the store says, and so does this one once it is back.
bool Webhook::mine() {
  if (ownership_.owns()) return true;
  seen_.reset();
  failing(false);
  return false;
}

// Every second it is asked whose work it is, however long the receiver is given to come back.
milliseconds Webhook::look() {
  if (!mine() || steady_clock::now() < next_try_) return kLook;
  const auto batch = next_batch();
  if (!batch) {
    if (batch.error().code == Code::history_gone) static_cast<void>(begin_at_the_end());
    return kLook;  // else the store's own trouble, which shows in every answer
  }
  const bool full = batch->seen - *seen_ >= kBatch;
  for (const Event& event : batch->events) {
    if (event.changes.empty()) continue;
    if (!thread_.pause(milliseconds(0)) || !mine()) return kLook;
    if (!send(event)) return kLook;  // this one again, later
    seen_ = event.revision;
    keep();
  }
  seen_ = batch->seen;
  if (*seen_ - kept_ >= kBatch) keep();  // so that a restart does not read it all again
  return full ? milliseconds(0) : kLook;
}

Result<EventBatch> Webhook::next_batch() {
  if (!seen_) {
    EXA_ASSIGN(const auto told,
               read_value<std::optional<int64_t>>(
                   service_.store(), [&](Transaction& tx) { return told_up_to(tx, target_.url); }));
    if (told) {
      seen_ = kept_ = *told;
    } else {
      EXA_TRY(begin_at_the_end());
    }
  }
  return read_value<EventBatch>(service_.store(),
                                [&](Transaction& tx) { return events_after(tx, *seen_, kBatch); });
}

Result<void> Webhook::begin_at_the_end() {
  EXA_ASSIGN(const int64_t newest,
             write_value<int64_t>(service_.store(), [&](Transaction& tx) -> Result<int64_t> {
               EXA_ASSIGN(const int64_t end, newest_revision(tx));
               EXA_TRY(note_told(tx, target_.url, end));
               return end;
             }));
  seen_ = kept_ = newest;
  log_.event(service_.now(), "webhook", {{"from", newest}});
  return {};
}

// What could not be kept is kept with the next one; until then a restart would tell it twice.
void Webhook::keep() {
  const auto kept =
      service_.store().write([&](Transaction& tx) { return note_told(tx, target_.url, *seen_); });
  if (kept) kept_ = *seen_;
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
  const auto reply = send_(request);
  const bool taken = reply && reply->status >= 200 && reply->status < 300;
  json::object details{{"revision", event.revision}, {"taken", taken}};
  if (!reply)
    details["error"] = reply.error().message;
  else
    details["status"] = reply->status;
  log_.event(service_.now(), "webhook", details);
  patience_ = taken ? milliseconds(0) : std::clamp(patience_ * 2, kFirstPatience, kLongestPatience);
  next_try_ = steady_clock::now() + patience_;
  failing(!taken);
  return taken;
}

void Webhook::failing(bool is) {
  metrics_.set("exa_webhook_failing", "1 while the receiver does not take what it is sent",
               is ? 1 : 0);
}

}  // namespace exa
