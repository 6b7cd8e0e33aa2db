#include "oidc/client.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/text.h"
#include "discover/url.h"
#include "oidc/proof.h"

namespace exa {
namespace {

constexpr Duration kAnswerWithin = seconds(5);
constexpr size_t kMostBytes = size_t{1} << 20;
constexpr Duration kKeep = hours(1);
constexpr Duration kBetweenLooks = seconds(30);
constexpr size_t kMostGroups = 1000;

Failure no_provider(std::string_view why) {
  return fail(Code::probe_failed, fmt::format("the sign-in provider: {}", why));
}

Failure begin_again(std::string_view why) {
  return fail(Code::invalid_input, fmt::format("{}; begin the sign-in again", why));
}

std::string_view authority_of(std::string_view url) {
  url.remove_prefix(std::min(url.find("://") + 3, url.size()));
  return url.substr(0, url.find('/'));
}

bool leads_here(std::string_view text) {
  const auto url = split_url(text);
  return url && is_this_machine(*url);
}

bool lists(const json::object& document, std::string_view member, std::string_view value) {
  const json::value* list = find(document, member);
  return list != nullptr && list->is_array() &&
         std::ranges::any_of(list->get_array(), [&](const json::value& one) {
           return one.is_string() && one.get_string() == value;
         });
}

bool says_yes(const json::object& document, std::string_view member) {
  const json::value* value = find(document, member);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// One value of a query; nothing when it is absent or there twice (then somebody plays tricks).
std::optional<std::string> only(const QueryFields& query, std::string_view name) {
  std::optional<std::string> found;
  for (const auto& [key, value] : query) {
    if (key != name) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

std::vector<std::string> groups_in(const json::object& claims, std::string_view claim) {
  const json::value* value = find(claims, claim);
  std::vector<std::string> groups;
  if (value == nullptr) return groups;
  if (value->is_string()) groups.emplace_back(value->get_string());
  if (value->is_array())
    for (const json::value& one : value->get_array())
      if (one.is_string() && groups.size() < kMostGroups) groups.emplace_back(one.get_string());
  return groups;
}

ProviderIdentity identity_of(const json::object& claims, std::string_view groups_claim) {
  ProviderIdentity who;
  who.subject = text_or(claims, "sub", "");
  who.name = text_or(claims, "preferred_username", "");
  if (who.name.empty()) who.name = text_or(claims, "email", "");
  who.name = who.name.substr(0, who.name.find('@'));
  who.display_name = printable(text_or(claims, "name", ""));
  who.groups = groups_in(claims, groups_claim);
  return who;
}

}  // namespace

bool is_trustworthy_url(std::string_view url) {
  const bool plain = std::ranges::all_of(
      url, [](char c) { return c > ' ' && c < 0x7f && c != '@' && c != '?' && c != '#'; });
  return plain && may_carry_secrets(url);
}

Result<void> check_oidc_settings(const OidcSettings& settings) {
  std::vector<Problem> problems;
  const auto wrong = [&](std::string where, std::string why) {
    problems.push_back({std::move(where), std::move(why), ""});
  };
  if (!is_trustworthy_url(settings.issuer))
    wrong("--oidc-issuer", "must be an https:// address (http:// on this machine alone)");
  if (!is_trustworthy_url(settings.public_url) || settings.public_url.ends_with('/') ||
      authority_of(settings.public_url) !=
          settings.public_url.substr(settings.public_url.find("//") + 2))
    wrong("--public-url", "must be https://HOST, as browsers reach this server, without a path");
  if (settings.client_id.empty()) wrong("--oidc-client-id", "is needed: the provider gives it");
  if (settings.client_secret.empty())
    wrong("--oidc-client-secret-file", "must name a file with the secret that the provider gave");
  if (settings.groups_claim.empty()) wrong("--oidc-groups-claim", "must name a claim");
  if (!problems.empty()) return fail(invalid("the sign-in provider", std::move(problems)));
  return {};
}

OidcClient::OidcClient(OidcSettings settings, Send send, Clock clock)
    : settings_(std::move(settings)),
      send_(std::move(send)),
      clock_(std::move(clock)),
      seal_(settings_.client_secret.reveal(), settings_.issuer, settings_.client_id) {}

Result<HttpReply> OidcClient::ask(HttpRequest request) const {
  request.ca = settings_.ca;
  request.timeout = kAnswerWithin;
  request.max_body = kMostBytes;
  request.headers.emplace_back("accept", "application/json");
  return send_(request);
}

// A JSON object from the provider; anything but 200 is an error that tells the status alone: its
// body may hold what was sent.
Result<json::object> OidcClient::fetch(HttpRequest request, std::string_view what) const {
  EXA_ASSIGN(const HttpReply reply, ask(std::move(request)));
  if (reply.status != 200)
    return no_provider(fmt::format("{} was answered with status {}", what, reply.status));
  auto document = parse_json(reply.body, what);
  if (!document || !document->is_object())
    return no_provider(fmt::format("{} is no JSON object", what));
  return std::move(document->as_object());
}

Result<OidcClient::Provider> OidcClient::discover() const {
  const bool slash = settings_.issuer.ends_with('/');
  HttpRequest request;
  request.url = settings_.issuer + (slash ? "" : "/") + ".well-known/openid-configuration";
  EXA_ASSIGN(const json::object said, fetch(std::move(request), "its description"));
  if (text_or(said, "issuer", "") != settings_.issuer) {
    return no_provider(fmt::format("it calls itself {}, and --oidc-issuer says {}",
                                   printable(text_or(said, "issuer", "nothing")),
                                   settings_.issuer));
  }
  Provider provider;
  provider.authorization = text_or(said, "authorization_endpoint", "");
  provider.token = text_or(said, "token_endpoint", "");
  provider.keys = text_or(said, "jwks_uri", "");
  provider.userinfo = text_or(said, "userinfo_endpoint", "");
  // a provider elsewhere must not make this machine talk to itself
  const bool here = leads_here(settings_.issuer);
  for (const std::string& url : {provider.authorization, provider.token, provider.keys})
    if (!is_trustworthy_url(url) || (leads_here(url) && !here))
      return no_provider(fmt::format("its address \"{}\" is not https://", printable(url)));
  if (!is_trustworthy_url(provider.userinfo) || (leads_here(provider.userinfo) && !here))
    provider.userinfo.clear();
  // client_secret_basic is what holds when nothing is said (Discovery §3)
  constexpr std::string_view kMethods = "token_endpoint_auth_methods_supported";
  provider.secret_in_body = find(said, kMethods) != nullptr &&
                            !lists(said, kMethods, "client_secret_basic") &&
                            lists(said, kMethods, "client_secret_post");
  provider.names_issuer = says_yes(said, "authorization_response_iss_parameter_supported");
  provider.has_groups_scope = lists(said, "scopes_supported", settings_.groups_claim);
  return provider;
}

Result<std::shared_ptr<const OidcClient::Provider>> OidcClient::provider() {
  {
    const std::lock_guard lock(mutex_);
    if (provider_ && clock_() - provider_since_ < kKeep) return provider_;
  }
  EXA_ASSIGN(Provider found, discover());
  const std::lock_guard lock(mutex_);
  provider_ = std::make_shared<const Provider>(std::move(found));
  provider_since_ = clock_();
  return provider_;
}

// The keys, with `key_id` among them if the provider has it.
Result<std::shared_ptr<const JwkSet>> OidcClient::keys(const Provider& provider,
                                                       std::string_view key_id) {
  {
    const std::lock_guard lock(mutex_);
    const Time now = clock_();
    if (keys_ && now - keys_since_ < kKeep) {
      if (has_key(*keys_, key_id) || now - looked_for_key_ < kBetweenLooks) return keys_;
      looked_for_key_ = now;
    }
  }
  HttpRequest request;
  request.url = provider.keys;
  EXA_ASSIGN(const json::object document, fetch(std::move(request), "its keys"));
  EXA_ASSIGN(JwkSet found, jwk_set_in(document));
  const std::lock_guard lock(mutex_);
  keys_ = std::make_shared<const JwkSet>(std::move(found));
  keys_since_ = clock_();
  return keys_;
}

Result<OidcClient::Begun> OidcClient::begin(const std::string& next) {
  EXA_ASSIGN(const auto known, provider());
  const PendingSignIn pending{random_text(), random_text(), random_text(), next,
                              clock_() + kPendingLongest};
  const std::string scope =
      "openid profile email" + (known->has_groups_scope ? " " + settings_.groups_claim : "");
  const std::string query = form_encoded({{"response_type", "code"},
                                          {"client_id", settings_.client_id},
                                          {"redirect_uri", settings_.redirect_uri()},
                                          {"scope", scope},
                                          {"state", pending.state},
                                          {"nonce", pending.nonce},
                                          {"code_challenge", code_challenge(pending.verifier)},
                                          {"code_challenge_method", "S256"}});
  return Begun{known->authorization + "?" + query, seal_.seal(pending)};
}

Result<OidcClient::Finished> OidcClient::finish(const QueryFields& query,
                                                std::string_view pending) {
  const auto began = seal_.open(pending, clock_());
  if (!began) return begin_again("this browser began no sign-in within the last ten minutes");
  const auto state = only(query, "state");
  if (!state || *state != began->state) return begin_again("the answer belongs to another sign-in");
  EXA_ASSIGN(const auto known, provider());
  const auto issuer = only(query, "iss");
  if (issuer ? *issuer != settings_.issuer : known->names_issuer)
    return fail(Code::unauthenticated, "the answer is by another provider (iss)");
  if (const auto error = only(query, "error"))
    return fail(Code::unauthenticated,
                fmt::format("the provider did not sign you in ({})",
                            printable(std::string_view(*error).substr(0, 64))));
  const auto code = only(query, "code");
  if (!code || code->empty()) return begin_again("the answer has no code");
  EXA_ASSIGN(const Tokens tokens, exchange(*known, *code, began->verifier));
  EXA_ASSIGN(const json::object claims, vouched(*known, tokens, began->nonce));
  return Finished{identity_of(claims, settings_.groups_claim), began->next};
}

Result<OidcClient::Tokens> OidcClient::exchange(const Provider& provider, const std::string& code,
                                                const std::string& verifier) const {
  std::vector<std::pair<std::string, std::string>> fields{
      {"grant_type", "authorization_code"},
      {"code", code},
      {"redirect_uri", settings_.redirect_uri()},
      {"code_verifier", verifier}};
  HttpRequest request;
  request.method = "POST";
  request.url = provider.token;
  request.headers.emplace_back("content-type", "application/x-www-form-urlencoded");
  if (provider.secret_in_body) {
    fields.emplace_back("client_id", settings_.client_id);
    fields.emplace_back("client_secret", settings_.client_secret.reveal());
  } else {
    // both are form-encoded first (RFC 6749 §2.3.1)
    const std::string pair = percent_encode(settings_.client_id) + ":" +
                             percent_encode(settings_.client_secret.reveal());
    request.headers.emplace_back(
        "authorization",
        "Basic " + base64({reinterpret_cast<const uint8_t*>(pair.data()), pair.size()}));
  }
  request.body = form_encoded(fields);
  EXA_ASSIGN(const HttpReply reply, ask(std::move(request)));
  const auto said = parse_json(reply.body, "answer");
  const bool object = said && said->is_object();
  if (reply.status == 400 || reply.status == 401) {
    const std::string_view why = object ? text_or(said->get_object(), "error", "") : "";
    if (why == "invalid_grant")
      return fail(Code::unauthenticated,
                  "the code was used before, is too old or is not ours; begin the sign-in again");
    return no_provider(
        fmt::format("it refused this server ({}); its client id, secret and "
                    "redirect address must be as the provider knows them",
                    printable(why.substr(0, 64))));
  }
  if (reply.status != 200 || !object)
    return no_provider(fmt::format("the code was answered with status {}", reply.status));
  Tokens tokens;
  tokens.id_token = text_or(said->get_object(), "id_token", "");
  tokens.access_token = Secret(std::string(text_or(said->get_object(), "access_token", "")));
  if (tokens.id_token.empty()) return no_provider("it sent no ID token");
  return tokens;
}

Result<json::object> OidcClient::vouched(const Provider& provider, const Tokens& tokens,
                                         const std::string& nonce) {
  EXA_ASSIGN(const std::string key_id, key_id_of(tokens.id_token));
  EXA_ASSIGN(const auto set, keys(provider, key_id));
  EXA_ASSIGN(json::object claims,
             verify_id_token(tokens.id_token, *set,
                             {settings_.issuer, settings_.client_id, nonce, settings_.algorithms},
                             clock_()));
  if (find(claims, settings_.groups_claim) == nullptr && !provider.userinfo.empty() &&
      !tokens.access_token.empty())
    EXA_TRY(add_userinfo(provider, tokens, claims));
  return claims;
}

// Many providers tell groups and names only when asked for them. Its subject must be the token's
// (Core §5.3.2), and nothing that the token says is replaced.
Result<void> OidcClient::add_userinfo(const Provider& provider, const Tokens& tokens,
                                      json::object& claims) const {
  HttpRequest request;
  request.url = provider.userinfo;
  request.bearer = tokens.access_token;
  EXA_ASSIGN(const json::object said, fetch(std::move(request), "what it knows of you"));
  if (text_or(said, "sub", "") != text_or(claims, "sub", ""))
    return fail(Code::unauthenticated, "the provider told of somebody else (sub)");
  for (const auto& [name, value] : said)
    if (!claims.contains(name)) claims[name] = value;
  return {};
}

}  // namespace exa
