#include "server/application.h"

#include <fmt/format.h>

#include "api/api_page.h"
#include "api/call.h"
#include "api/http_form.h"
#include "api/openapi.h"
#include "base/encoding.h"
#include "base/quantity.h"
#include "base/text.h"
#include "server/answers.h"
#include "server/gauges.h"
#include "service/service.h"

namespace exa {
namespace {

// As event.list, but it goes on.
constexpr std::string_view kWatchPath = "/api/v1/watch";

constexpr size_t kSmallBody = size_t{1} << 20;
constexpr size_t kFileBody = size_t{64} << 20;  // captures of clusters, traces, audit bundles

Outgoing plain(int status, std::string route, std::string text,
               std::string type = "text/plain; charset=utf-8") {
  Outgoing outgoing;
  outgoing.status = status;
  outgoing.route = std::move(route);
  outgoing.content_type = std::move(type);
  outgoing.body = std::make_shared<const std::string>(std::move(text));
  return outgoing;
}

bool reads(std::string_view method) {
  return method == "GET" || method == "HEAD";
}

std::string rights_key(const Principal& principal) {
  return principal.kind + ' ' + principal.id + ' ' + principal.token;
}

// What Allow says of a path; empty where nothing is.
std::string allowed_methods(std::string_view path) {
  constexpr std::string_view kPages[] = {"/healthz",      "/readyz", "/metrics",
                                         "/openapi.json", "/api",    kWatchPath};
  if (std::ranges::find(kPages, path) != std::end(kPages)) return "GET, HEAD";
  std::vector<std::string_view> names;
  for (const Method method : {Method::get, Method::put, Method::post, Method::del}) {
    if (!match_route(routes(), method, path)) continue;
    names.push_back(name(method));
    if (method == Method::get) names.emplace_back("HEAD");
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// RFC 7240: preferences separated by commas, each perhaps with parameters.
bool wants_async(std::string_view prefer) {
  return std::ranges::any_of(split(prefer, ','), [](std::string_view one) {
    return lower(trim(one.substr(0, one.find(';')))) == "respond-async";
  });
}

}  // namespace

namespace {

// "https://exa.example.org" of "https://exa.example.org/console".
std::string_view origin_of_url(std::string_view url) {
  const size_t host = url.find("://");
  return host == std::string_view::npos ? "" : url.substr(0, url.find('/', host + 3));
}

}  // namespace

std::optional<std::string> cross_site(const Incoming& incoming, std::string_view public_url) {
  if (reads(incoming.method) || incoming.cookie.empty() || !incoming.authorization.empty())
    return std::nullopt;
  if (!incoming.fetch_site.empty()) {
    if (incoming.fetch_site == "same-origin") return std::nullopt;
    return "a change with a session must come from this site's own pages";
  }
  const std::string own = fmt::format("{}://{}", incoming.tls ? "https" : "http", incoming.host);
  // behind a proxy that speaks TLS, browsers name the address that they know
  const bool known = !incoming.origin.empty() && incoming.origin == origin_of_url(public_url);
  if (incoming.origin == own || known) return std::nullopt;
  return "a change with a session must name this site as its Origin";
}

size_t Application::body_limit(std::string_view method, std::string_view target) {
  const auto found = find_method(method);
  if (!found) return kSmallBody;
  const auto matched = match_route(routes(), *found, path_of(target));
  if (!matched) return kSmallBody;
  const bool takes_file = std::ranges::any_of(
      matched->route->params, [](const Param& param) { return param.kind == Kind::file; });
  return takes_file ? kFileBody : kSmallBody;
}

// Looks once a second at most, however often somebody asks: a look takes the writer's turn. Who
// asks while another looks gets what was seen last, so that probes do not pile up behind a slow
// disk.
Outgoing Application::ready() {
  if (draining_) return plain(503, "readyz", "stopping\n");
  if (const std::unique_lock look(looking_, std::try_to_lock); look.owns_lock()) {
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_at_ >= std::chrono::seconds(1)) {
      const Result<void> appendable = parts_.service.audit_is_appendable();
      looked_at_ = std::chrono::steady_clock::now();
      const std::lock_guard lock(seen_);
      not_ready_ = appendable ? "" : appendable.error().message;
    }
  }
  const std::lock_guard lock(seen_);
  if (not_ready_.empty()) return plain(200, "readyz", "ready\n");
  return plain(503, "readyz", fmt::format("not ready: {}\n", not_ready_));
}

// What the API is, for machines and for people; public, as it is in the manual.
std::optional<Outgoing> Application::description(std::string_view target) {
  static const auto document =
      std::make_shared<const std::string>(to_pretty_text(openapi(routes())));
  static const auto page = std::make_shared<const std::string>(api_page(routes(), ""));
  Outgoing outgoing;
  if (target == "/openapi.json") {
    outgoing.route = "openapi";
    outgoing.body = document;
    return outgoing;
  }
  if (target != "/api") return std::nullopt;
  outgoing.route = "api_page";
  make_page(outgoing, page);
  return outgoing;
}

Outgoing Application::scraped() {
  read_gauges(parts_.service, parts_.metrics);
  parts_.metrics.set("exa_ready", "1 when changes can be made", ready().status == 200 ? 1 : 0);
  return plain(200, "metrics", parts_.metrics.text(), "text/plain; version=0.0.4; charset=utf-8");
}

std::optional<Outgoing> Application::answer_now(const Incoming& incoming) {
  try {
    return from_memory(incoming);
  } catch (...) {
    return std::nullopt;  // `answer` throws it again, and tells it
  }
}

std::optional<Outgoing> Application::from_memory(const Incoming& incoming) {
  if (!reads(incoming.method)) return std::nullopt;
  if (incoming.target == "/healthz") return plain(200, "healthz", "ok\n");
  if (auto page = description(incoming.target)) return page;
  if (!parts_.service.store().only_writer()) return std::nullopt;
  const auto principal = parts_.door.remembered(incoming);
  if (principal == nullptr) return std::nullopt;
  auto kept = cache_.find(rights_key(*principal), incoming.target, parts_.service.store().changes(),
                          std::chrono::steady_clock::now());
  if (!kept) return std::nullopt;
  parts_.metrics.from_cache();
  kept->principal = principal->name;
  kept->request_id = ids_.next();
  note_trace(incoming, *kept);
  return kept;
}

bool Application::is_small_change(const Incoming& incoming) {
  const auto method = find_method(incoming.method);
  if (!method || *method == Method::get) return false;
  // rehearsals keep nothing, and so have nothing to share
  if (incoming.target.find("dry_run") != std::string::npos) return false;
  const auto matched = match_route(routes(), *method, path_of(incoming.target));
  return matched && matched->route->tier != Tier::read_only && !matched->route->is_long &&
         !matched->route->alone;
}

Outgoing Application::not_kept(const Outgoing& answer, const Error& why) const {
  Outgoing refusal = outgoing_of(reply_of(why, answer.request_id));
  refusal.route = answer.route;
  refusal.principal = answer.principal;
  refusal.request_id = answer.request_id;
  refusal.trace_id = answer.trace_id;
  return refusal;
}

Outgoing Application::answer(const Incoming& incoming) {
  const std::string id = ids_.next();
  Outgoing outgoing;
  try {
    outgoing = answered_by(incoming, id);
  } catch (...) {
    parts_.log.event(parts_.service.now(), "failed",
                     {{"in", "request"}, {"request_id", id}, {"error", what_was_thrown()}});
    outgoing = problem(500, Code::unexpected, "the request could not be answered", id);
  }
  outgoing.request_id = id;
  note_trace(incoming, outgoing);
  return outgoing;
}

Outgoing Application::answered_by(const Incoming& incoming, const std::string& id) {
  if (reads(incoming.method) && incoming.target == "/readyz") return ready();
  if (reads(incoming.method) && incoming.target == "/metrics") return scraped();
  if (auto page = parts_.sessions.answer(incoming, id)) return *std::move(page);
  const auto principal = parts_.door.who(incoming);
  if (!principal) return outgoing_of(reply_of(principal.error(), id));
  const bool watches = path_of(incoming.target) == kWatchPath && reads(incoming.method);
  Outgoing outgoing =
      watches ? watched(incoming, id, **principal) : from_router(incoming, id, **principal);
  outgoing.principal = (*principal)->name;
  return outgoing;
}

Outgoing Application::from_router(const Incoming& incoming, const std::string& id,
                                  const Principal& principal) {
  const auto refuse = [&](int status, Code code, std::string_view why) {
    return problem(status, code, why, id);
  };
  auto target = parse_target(incoming.target);
  if (!target) return refuse(400, Code::invalid_input, target.error().message);
  // HEAD is GET without a body, which the connection leaves out.
  const auto method = find_method(incoming.method == "HEAD" ? "GET" : incoming.method);
  const auto matched = method ? match_route(routes(), *method, target->path)
                              : Result<Matched>(fail(Code::not_found, "nothing is there"));
  if (!matched) {
    if (const std::string allowed = allowed_methods(target->path); !allowed.empty()) {
      Outgoing refusal = refuse(405, Code::method_not_allowed,
                                fmt::format("{} does not take {}", target->path, incoming.method));
      refusal.headers.emplace_back("allow", allowed);
      return refusal;
    }
    if (!method) return refuse(404, Code::not_found, "there is nothing at this path");
  }
  if (const auto why = cross_site(incoming, parts_.public_url))
    return refuse(403, Code::forbidden, *why);
  if (!incoming.body.empty() && !is_json(incoming.content_type))
    return refuse(415, Code::invalid_input, "a body must be sent as application/json");

  Request request;
  request.method = *method;
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  request.body = incoming.body;
  request.idempotency_key = incoming.idempotency_key;
  request.if_match = incoming.if_match;
  request.requires_match = !incoming.any_state;
  request.principal = principal;
  request.origin = incoming.peer;
  request.request_id = id;
  const bool keep = reads(incoming.method) && parts_.service.store().only_writer();
  const uint64_t changes = parts_.service.store().changes();
  request.respond_async = matched && matched->route->is_long && wants_async(incoming.prefer);
  Reply reply =
      request.respond_async ? parts_.operations.begin(request) : parts_.router.handle(request);
  if (matched && reply.status >= 400 && matched->route->error_exit != 0)
    reply.exit_code = matched->route->error_exit;
  Outgoing outgoing = outgoing_of(std::move(reply));
  if (matched) {
    outgoing.route = matched->route->id;
  }
  if (keep && outgoing.status == 200) {
    cache_.keep(rights_key(principal), incoming.target, changes, std::chrono::steady_clock::now(),
                outgoing);
  }
  return outgoing;
}

// GET /api/v1/watch?since=REV: the events of event.list as server-sent events. What is asked for is
// checked by that route, which also says where the log stands.
Outgoing Application::watched(const Incoming& incoming, const std::string& id,
                              const Principal& principal) {
  auto target = parse_target(incoming.target);
  if (!target) return outgoing_of(reply_of(target.error(), id));
  // a browser that connects again says what it saw last
  if (!incoming.last_event_id.empty()) target->query = {{"since", incoming.last_event_id}};
  const auto given = [&](std::string_view name) {
    const auto found =
        std::ranges::find(target->query, name, [](const auto& one) { return one.first; });
    return found == target->query.end() ? std::string() : found->second;
  };
  const std::string since_given = given("since");
  // only where the log stands is asked for, or whether it ever stood there
  if (given("limit").empty()) target->query.emplace_back("limit", "1");
  Incoming asked = incoming;
  asked.method = "GET";
  asked.target = format_target("/api/v1/events", target->query);
  Outgoing listed = from_router(asked, id, principal);
  if (listed.status != 200) return listed;
  const auto document = parse_json(*listed.body, "events", tool_output_limits());
  const int64_t newest = document ? document->at("revision").to_number<int64_t>() : 0;
  const int64_t since = parse_count(since_given, "since").value_or(newest);
  Outgoing stream;
  stream.route = "watch";
  stream.content_type = "text/event-stream";
  stream.headers.emplace_back("x-accel-buffering", "no");  // for a proxy in front
  stream.stream = [this, incoming, since](const std::shared_ptr<EventSink>& sink) {
    try {
      const bool taken =
          parts_.watch.watch(sink, since, [this, incoming] { return still(incoming); });
      if (taken) return;
      sink->send(std::make_shared<const std::string>(": too many watch already\n\n"));
    } catch (...) {
      parts_.log.event(parts_.service.now(), "failed",
                       {{"in", "watch"}, {"error", what_was_thrown()}});
    }
    sink->end();
  };
  return stream;
}

Result<Principal> Application::still(const Incoming& incoming) {
  EXA_ASSIGN(const auto who, parts_.door.still(incoming));
  if (!who->signed_in()) return fail(Code::unauthenticated, "nobody is signed in");
  return *who;
}

Outgoing Application::refused(int status, std::string_view why) {
  const std::string id = ids_.next();
  Outgoing outgoing = problem(status, Code::invalid_input, why, id);
  outgoing.request_id = id;
  return outgoing;
}

void Application::note_trace(const Incoming& incoming, Outgoing& outgoing) {
  if (const auto trace = parse_traceparent(incoming.traceparent))
    outgoing.trace_id = trace->trace_id;
}

void Application::answered(const Incoming& incoming, const Outgoing& outgoing,
                           std::chrono::nanoseconds took) {
  const size_t bytes = outgoing.body ? outgoing.body->size() : 0;
  parts_.metrics.answered(outgoing.route, outgoing.status, took, bytes);
  parts_.log.request(
      parts_.service.now(),
      {.request_id = outgoing.request_id,
       .trace_id = outgoing.trace_id,
       .method = incoming.method,
       .path = path_of(incoming.target),
       .route = outgoing.route,
       .principal = outgoing.principal,
       .peer = incoming.peer,
       .status = outgoing.status,
       .bytes = bytes,
       .micros = std::chrono::duration_cast<std::chrono::microseconds>(took).count()});
}

}  // namespace exa
