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

AccessLog::AccessLog(std::string where) : where_(std::move(where)) {}

AccessLog::~AccessLog() {
  if (logger_) logger_->flush();
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
    if (logger_) logger_->flush();
    logger_ = std::move(logger);
    pool_ = std::move(pool);
    return {};
  } catch (const spdlog::spdlog_ex& problem) {
    return fail(Code::store_unwritable,
                fmt::format("the access log cannot be written: {}", problem.what()));
  }
}

void AccessLog::request(Time now, const Line& line) {
  if (!logger_) return;
  std::string text = fmt::format(
      R"({{"time":"{}","request_id":"{}","method":{},"path":{},"route":"{}","status":{},"bytes":{},"micros":{},"principal":{},"peer":"{}")",
      format_rfc3339(now), line.request_id, quoted(line.method), quoted(without_secrets(line.path)),
      line.route, line.status, line.bytes, line.micros, quoted(line.principal), line.peer);
  if (!line.trace_id.empty()) text += fmt::format(R"(,"trace_id":"{}")", line.trace_id);
  text += '}';
  logger_->info(text);
}

void AccessLog::event(Time now, std::string_view what, json::object details) {
  if (!logger_) return;
  json::object line{{"time", format_rfc3339(now)}, {"event", what}};
  for (auto& [key, value] : details) line[key] = std::move(value);
  logger_->warn(to_text(std::move(line)));  // warn: on the disk at once
}

Result<void> AccessLog::reopen() {
  if (where_.empty() || where_ == "-") return {};
  return start();
}

void AccessLog::flush() {
  if (logger_) logger_->flush();
}

}  // namespace exa
