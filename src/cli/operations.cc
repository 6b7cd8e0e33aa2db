#include "cli/operations.h"

#include <thread>

#include <fmt/format.h>

#include "api/router.h"
#include "base/json.h"
#include "base/text.h"

namespace exa {
namespace {

using std::chrono::milliseconds;

constexpr auto kShowEvery = milliseconds(100);
constexpr auto kFirstLook = milliseconds(20);
constexpr auto kLongestPause = milliseconds(1000);
constexpr int kMostLost = 30;  // looks in a row that found no server

int64_t integer_or(const json::value& object, std::string_view key, int64_t otherwise) {
  const json::value* value = find(object, key);
  return value != nullptr && value->is_int64() ? value->get_int64() : otherwise;
}

Reply left_behind(const std::string& id) {
  return reply_of({Code::interrupted,
                   fmt::format("the server goes on with it as operation {}", id),
                   {},
                   fmt::format("exa operation wait {0}, or exa operation cancel {0}", id),
                   {}},
                  "");
}

// The server is gone, and with it perhaps the work; its record says so once somebody answers.
Reply lost_sight(const std::string& id, const Reply& reply) {
  Error error = error_of(reply);
  error.message = fmt::format("nobody answers any more while operation {} goes on or has ended: {}",
                              id, error.message);
  error.next = fmt::format("exa operation wait {}, once a server answers again", id);
  return reply_of(error, "");
}

Reply reply_in(const json::value& answer) {
  Reply reply;
  reply.status = static_cast<int>(integer_or(answer, "status", 200));
  reply.exit_code = static_cast<int>(integer_or(answer, "exit_code", 0));
  if (const json::value* notices = find(answer, "notices"); notices && notices->is_array())
    for (const json::value& notice : notices->get_array())
      if (notice.is_string()) reply.notices.emplace_back(notice.get_string());
  if (const json::value* body = find(answer, "body")) reply.body = to_pretty_text(*body);
  return reply;
}

// True when it was waited; false when nobody wants to wait any more.
bool pause(milliseconds time, const Progress& progress) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    if (progress.cancelled()) return false;
    std::this_thread::sleep_for(std::min(time, kShowEvery));
  }
  return !progress.cancelled();
}

void show(Progress& progress, const json::value& operation) {
  const json::value* seen = find(operation, "progress");
  if (seen == nullptr || !seen->is_object()) {
    progress.at(text_or(operation, "state", ""), 0, 0);
    return;
  }
  progress.at(text_or(*seen, "what", ""), integer_or(*seen, "done", 0),
              integer_or(*seen, "total", 0));
}

}  // namespace

ShownProgress::ShownProgress(const Environment& environment, bool quiet)
    : environment_(environment), shown_(environment.err_is_terminal && !quiet) {}

ShownProgress::~ShownProgress() {
  clear();
}

void ShownProgress::at(std::string_view what, int64_t done, int64_t total) {
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now < next_) return;
  next_ = now + kShowEvery;
  std::string line(what);
  if (total > 0)
    line = fmt::format("{} of {} {}", done, total, what);
  else if (done > 0)
    line = fmt::format("{} {}", done, what);
  environment_.err(fmt::format("\r\x1b[K{} …", printable(line)));
  there_ = true;
}

bool ShownProgress::cancelled() const {
  return environment_.interrupted && environment_.interrupted();
}

void ShownProgress::clear() {
  if (there_) environment_.err("\r\x1b[K");
  there_ = false;
}

Awaited await_operation(const Send& send, const std::string& id, Progress& progress) {
  const Request ask = build_request(*find_route("operation.show"), {{"id", id}});
  milliseconds wait = kFirstLook;
  for (int lost = 0;;) {
    if (progress.cancelled()) return {left_behind(id), ""};
    Reply reply = send(ask);
    if (reply.status >= 400) {
      // a server that is started anew, or a proxy in front of one, is worth another look
      const Code code = error_of(reply).code;
      const bool away = code == Code::unreachable || code == Code::store_unreachable;
      if (!away) return {std::move(reply), ""};
      if (++lost >= kMostLost) return {lost_sight(id, reply), ""};
    } else {
      lost = 0;
      const auto operation = parse_json(reply.body, "reply", tool_output_limits());
      if (!operation) return {reply_of(operation.error(), ""), ""};
      const json::value* answer = find(*operation, "answer");
      if (answer != nullptr && answer->is_object())
        return {reply_in(*answer), std::string(text_or(*operation, "route", ""))};
      const std::string_view state = text_or(*operation, "state", "");
      if (state != "queued" && state != "running") {
        return {reply_of({Code::interrupted,
                          fmt::format("operation {} ended without an answer: the server that did "
                                      "it was stopped",
                                      id),
                          {},
                          "exa audit list, then ask again",
                          {}},
                         ""),
                ""};
      }
      show(progress, *operation);
    }
    if (!pause(wait, progress)) return {left_behind(id), ""};
    wait = std::min(wait * 2, kLongestPause);
  }
}

}  // namespace exa
