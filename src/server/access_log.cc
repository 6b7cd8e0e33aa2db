#include "server/access_log.h"

#include <fmt/format.h>
// spdlog is used header-only with the fmt of the system
#define SPDLOG_FMT_EXTERNAL
#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/redact.h"

namespace exa {
namespace {

// Lines that wait for the disk; beyond these the oldest are dropped rather than answers delayed.
constexpr size_t kMostWaiting = 8192;

// A path may hold anything a client sent.
std::string quoted(std::string_view text) {
  return to_text(json::value(text));
}

}  // namespace

struct AccessLog::Output {
  std::shared_ptr<spdlog::details::thread_pool> pool;  // ends once all that waits is written
  std::shared_ptr<spdlog::logger> logger;
};

AccessLog::AccessLog(std::string where) : where_(std::move(where)) {}

AccessLog::~AccessLog() = default;

std::shared_ptr<const AccessLog::Output> AccessLog::output() const {
  const std::lock_guard lock(mutex_);
  return output_;
}

Result<std::unique_ptr<AccessLog>> AccessLog::open(const std::string& where) {
  std::unique_ptr<AccessLog> log(new AccessLog(where));
  if (!where.empty()) EXA_TRY(log->start());
  return log;
}

Result<void> AccessLog::start() {
  try {
    spdlog::sink_ptr sink;
    if (where_ == "-")
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    else
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(where_);
    auto pool = std::make_shared<spdlog::details::thread_pool>(kMostWaiting, 1);
    auto logger = std::make_shared<spdlog::async_logger>(
        "access", std::move(sink), pool, spdlog::async_overflow_policy::overrun_oldest);
    logger->set_pattern("%v");
    logger->flush_on(spdlog::level::info);  // on the log's own thread: whoever looks sees it
    auto opened = std::make_shared<const Output>(Output{std::move(pool), std::move(logger)});
    // the old one ends outside the lock: its thread may still have lines to write
    const std::unique_lock lock(mutex_);
    opened.swap(output_);
    return {};
  } catch (const spdlog::spdlog_ex& problem) {
    return fail(Code::store_unwritable,
                fmt::format("the access log cannot be written: {}", problem.what()));
  }
}

void AccessLog::request(Time now, const Line& line) {
  const auto output = this->output();
  if (!output) return;
  std::string text = fmt::format(
      R"({{"time":"{}","request_id":"{}","method":{},"path":{},"route":"{}","status":{},"bytes":{},"micros":{},"principal":{},"peer":"{}")",
      format_rfc3339(now), line.request_id, quoted(line.method), quoted(without_secrets(line.path)),
      line.route, line.status, line.bytes, line.micros, quoted(line.principal), line.peer);
  if (!line.trace_id.empty()) text += fmt::format(R"(,"trace_id":"{}")", line.trace_id);
  text += '}';
  output->logger->info(text);
}

void AccessLog::event(Time now, std::string_view what, const json::object& details) {
  const auto output = this->output();
  if (!output) return;
  json::object line{{"time", format_rfc3339(now)}, {"event", what}};
  for (const auto& [key, value] : details) line[key] = value;
  output->logger->warn(to_text(std::move(line)));
}

Result<void> AccessLog::reopen() {
  if (where_.empty() || where_ == "-") return {};
  return start();
}

}  // namespace exa
