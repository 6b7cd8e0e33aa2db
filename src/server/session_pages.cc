#include "server/session_pages.h"

#include <fmt/format.h>

#include "api/api_page.h"
#include "api/http_form.h"
#include "api/openapi.h"
#include "api/router.h"
#include "oidc/proof.h"
#include "server/answers.h"
#include "server/application.h"
#include "server/cookies.h"
#include "service/sign_in.h"

namespace exa {
namespace {

constexpr std::string_view kPendingCookie = "exa_oidc";
constexpr std::string_view kAfterSignIn = "/api";  // a page that is there

Outgoing answered(int status, std::string text = {}) {
  Outgoing outgoing;
  outgoing.status = status;
  outgoing.body = std::make_shared<const std::string>(std::move(text));
  return outgoing;
}

Outgoing sent_to(std::string url) {
  Outgoing outgoing = answered(303);
  outgoing.content_type = "text/plain; charset=utf-8";
  outgoing.headers.emplace_back("location", std::move(url));
  // what a provider's page is told of where somebody came from
  outgoing.headers.emplace_back("referrer-policy", "no-referrer");
  return outgoing;
}

void add_cookie(Outgoing& outgoing, std::string cookie) {
  outgoing.headers.emplace_back("set-cookie", std::move(cookie));
}

// A page for a person whose sign-in failed half way, in a browser that shows no JSON.
Outgoing error_page(const Error& error, Outgoing problem) {
  make_page(problem,
            std::make_shared<const std::string>(fmt::format(
                "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Not signed "
                "in</title><style>body{{font:1rem/1.5 sans-serif;margin:3rem auto;"
                "max-width:36rem}}</style><h1>You are not signed in</h1><p>{}.</p><p><a "
                "href=\"/auth/oidc/login\">Sign in again</a></p></html>\n",
                html_escaped(error.message))));
  return problem;
}

struct Credentials {
  std::string user;
  std::string password;
};

Result<Credentials> credentials_in(const std::string& body) {
  EXA_ASSIGN(const json::value value, parse_json(body, "request body"));
  Credentials given;
  std::vector<Problem> problems;
  if (!value.is_object()) {
    problems.push_back({"", "must be an object with user and password", ""});
    return fail(invalid("request body", std::move(problems)));
  }
  for (const auto& [key, member] : value.get_object())
    if (key != "user" && key != "password")
      problems.push_back({pointer("", key), "is not known; user and password are", ""});
  const auto read = [&](std::string_view name, std::string& text) {
    text = text_or(value, name, "");
    if (text.empty()) problems.push_back({pointer("", name), "must be a text", ""});
  };
  read("user", given.user);
  read("password", given.password);
  if (!problems.empty()) return fail(invalid("request body", std::move(problems)));
  return given;
}

}  // namespace

bool SessionPages::secure(const Incoming& incoming) const {
  return incoming.tls || public_url_.starts_with("https://");
}

std::optional<Outgoing> SessionPages::answer(const Incoming& incoming,
                                             const std::string& request_id) {
  using Page = Result<Outgoing> (SessionPages::*)(const Incoming&);
  struct Served {
    std::string_view path;
    std::string_view method;
    std::string_view route;
    Page page;
  };
  static constexpr Served kRows[] = {
      {"/api/v1/sessions", "POST", "session.sign_in", &SessionPages::sign_in_with_password},
      {"/api/v1/sessions/current", "DELETE", "session.sign_out", &SessionPages::sign_out_here},
      {"/auth/oidc/login", "GET", "oidc.login", &SessionPages::to_provider},
      {"/auth/oidc/callback", "GET", "oidc.callback", &SessionPages::from_provider},
  };
  const std::string_view path = path_of(incoming.target);
  const auto* row = std::ranges::find(kRows, path, &Served::path);
  if (row == std::end(kRows)) return std::nullopt;
  Outgoing outgoing;
  if (incoming.method != row->method) {
    outgoing = problem(405, Code::method_not_allowed,
                       fmt::format("{} is not served here, {} is", incoming.method, row->method),
                       request_id);
    outgoing.headers.emplace_back("allow", row->method);
  } else if (incoming.method == "POST" && !is_json(incoming.content_type)) {
    outgoing =
        problem(415, Code::invalid_input, "a body must be sent as application/json", request_id);
  } else if (auto done = (this->*row->page)(incoming)) {
    outgoing = *std::move(done);
  } else {
    const Error& error = done.error();
    outgoing = outgoing_of(reply_of(error, request_id));
    const bool page = path.starts_with("/auth/");
    if (page) add_cookie(outgoing, drop_cookie(kPendingCookie, secure(incoming)));
    if (page && incoming.accept.find("text/html") != std::string::npos)
      outgoing = error_page(error, std::move(outgoing));
  }
  outgoing.route = row->route;
  return outgoing;
}

// JSON from this site's own pages: another site can neither send that type unasked nor hide that it
// is another, so it cannot sign its visitors in as somebody else.
Result<Outgoing> SessionPages::sign_in_with_password(const Incoming& incoming) {
  if (!incoming.fetch_site.empty() && incoming.fetch_site != "same-origin")
    return fail(Code::forbidden, "a sign-in must come from this site's own pages");
  EXA_ASSIGN(Credentials given, credentials_in(incoming.body));
  SignIn wanted;
  wanted.user = given.user;
  wanted.password = SecretText(std::move(given.password));
  wanted.origin = incoming.peer;
  wanted.old_session = session_in(incoming.cookie, incoming.tls);
  EXA_ASSIGN(const Session session, sign_in(service_, wanted));
  Outgoing outgoing = answered(
      201, to_pretty_text(json::object{{"user", session.user},
                                       {"expires_at", format_rfc3339(session.expires_at)}}));
  add_cookie(outgoing,
             set_cookie(kSessionCookie, session.id.reveal(), kSessionLongest, secure(incoming)));
  outgoing.principal = session.user;
  return outgoing;
}

Result<Outgoing> SessionPages::sign_out_here(const Incoming& incoming) {
  if (const auto why = cross_site(incoming, public_url_)) return fail(Code::forbidden, *why);
  EXA_TRY(sign_out(service_, session_in(incoming.cookie, incoming.tls), incoming.peer));
  Outgoing outgoing = answered(204);
  add_cookie(outgoing, drop_cookie(kSessionCookie, secure(incoming)));
  return outgoing;
}

Result<Outgoing> SessionPages::to_provider(const Incoming& incoming) {
  if (oidc_ == nullptr) {
    return fail(Code::not_found, "this server knows no sign-in provider",
                "exa serve --oidc-issuer https://… --oidc-client-id ID …");
  }
  EXA_ASSIGN(const RequestTarget target, parse_target(incoming.target));
  std::string next;
  for (const auto& [key, value] : target.query)
    if (key == "next") next = value;
  EXA_ASSIGN(const auto begun, oidc_->begin(path_on_this_site(next, kAfterSignIn)));
  Outgoing outgoing = sent_to(begun.url);
  add_cookie(outgoing,
             set_cookie(kPendingCookie, begun.pending, kPendingLongest, secure(incoming)));
  return outgoing;
}

Result<Outgoing> SessionPages::from_provider(const Incoming& incoming) {
  if (oidc_ == nullptr) return fail(Code::not_found, "this server knows no sign-in provider");
  AttemptLimiter& attempts = service_.sign_in_attempts();
  EXA_TRY(attempts.admit("", incoming.peer, service_.now()));
  const bool over_tls = secure(incoming);
  EXA_ASSIGN(const RequestTarget target, parse_target(incoming.target));
  const std::string pending = cookie_named(incoming.cookie, cookie_name(kPendingCookie, over_tls));
  auto finished = oidc_->finish(target.query, pending);
  // Only what made this server ask the provider counts: the rest costs nothing, and anybody can
  // make a neighbour behind the same address do it.
  if (finished || finished.error().code != Code::unauthenticated)
    attempts.succeeded("", incoming.peer);
  if (!finished) return fail(std::move(finished).error());
  const ProviderIdentity& who = finished->who;
  EXA_ASSIGN(const Principal user, upsert_oidc_user(service_,
                                                    {.issuer = oidc_->settings().issuer,
                                                     .subject = who.subject,
                                                     .name = who.name,
                                                     .display_name = who.display_name,
                                                     .groups = who.groups},
                                                    incoming.peer));
  EXA_ASSIGN(const Session session, open_session(service_, user, incoming.peer,
                                                 session_in(incoming.cookie, incoming.tls)));
  Outgoing outgoing = sent_to(finished->next);
  add_cookie(outgoing, set_cookie(kSessionCookie, session.id.reveal(), kSessionLongest, over_tls));
  add_cookie(outgoing, drop_cookie(kPendingCookie, over_tls));
  outgoing.principal = user.name;
  return outgoing;
}

}  // namespace exa
