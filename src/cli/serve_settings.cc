#include "cli/serve_settings.h"

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/redact.h"
#include "base/text.h"
#include "cli/connect.h"
#include "cli/secret_file.h"
#include "discover/url.h"

namespace exa {
namespace {

// nullopt: nobody is to be told.
Result<std::optional<WebhookTarget>> webhook_of(const LocalCall& call) {
  std::optional<WebhookTarget> none;
  const std::string url = value_of(call, "webhook");
  if (url.empty()) return none;
  if (value_of(call, "webhook_secret_file").empty())
    return fail(Code::usage, "what a webhook is sent must be signed", "--webhook-secret-file FILE");
  if (!may_carry_secrets(url)) {
    return fail(Code::usage,
                fmt::format("--webhook {} is no https:// address (http:// is for this machine "
                            "alone)",
                            printable(without_secrets(url))),
                "exa serve --webhook https://HOST/PATH --webhook-secret-file FILE");
  }
  EXA_ASSIGN(Secret secret,
             secret_in_file(call.environment, value_of(call, "webhook_secret_file")));
  return std::optional(WebhookTarget{url, std::move(secret)});
}

// nullopt: no provider was named.
Result<std::optional<OidcSettings>> oidc_settings_of(const LocalCall& call) {
  std::optional<OidcSettings> none;
  constexpr std::string_view kOthers[] = {"oidc_client_id", "oidc_client_secret_file", "oidc_ca"};
  OidcSettings oidc;
  oidc.issuer = value_of(call, "oidc_issuer");
  if (oidc.issuer.empty()) {
    for (const std::string_view other : kOthers)
      if (!value_of(call, other).empty())
        return fail(Code::usage, "a sign-in provider is named by --oidc-issuer",
                    "exa serve --oidc-issuer https://… --oidc-client-id ID "
                    "--oidc-client-secret-file FILE --public-url https://…");
    return none;
  }
  oidc.client_id = value_of(call, "oidc_client_id");
  if (!value_of(call, "oidc_client_secret_file").empty()) {
    EXA_ASSIGN(oidc.client_secret,
               secret_in_file(call.environment, value_of(call, "oidc_client_secret_file")));
  }
  oidc.groups_claim = value_of(call, "oidc_groups_claim");
  oidc.public_url = value_of(call, "public_url");
  oidc.ca.file = value_of(call, "oidc_ca");
  EXA_ASSIGN(oidc.algorithms, parse_jws_algorithms(value_of(call, "oidc_algorithms")));
  EXA_TRY(check_oidc_settings(oidc));
  return std::optional(std::move(oidc));
}

}  // namespace

Route serve_row() {
  return {
      .id = "local.serve",
      .command = "serve",
      .tier = Tier::mutating,
      .summary = "Answer over HTTP, for the whole organisation",
      .detail =
          "Answers the API at /api/v1, and commands on the same data folder through a socket "
          "in it. Other addresses than loopback need TLS. SIGTERM ends it after the requests "
          "that had begun; SIGHUP reads the certificate again and opens the access log anew.",
      .params = {{.name = "listen",
                  .flag = "--listen",
                  .help = "ADDRESS:PORT, or none for the socket alone",
                  .fallback = "127.0.0.1:8480"},
                 {.name = "tls_cert",
                  .kind = Kind::path,
                  .flag = "--tls-cert",
                  .help = "certificate with its chain, in PEM"},
                 {.name = "tls_key",
                  .kind = Kind::path,
                  .flag = "--tls-key",
                  .help = "key of the certificate, in PEM"},
                 {.name = "access_log",
                  .flag = "--access-log",
                  .help = "file for a line of JSON a request; - for standard error"},
                 {.name = "threads",
                  .kind = Kind::integer,
                  .flag = "--threads",
                  .help = "event loops; 0 for one a core",
                  .fallback = "0"},
                 {.name = "webhook",
                  .flag = "--webhook",
                  .help = "address that is told when a profile's status changes"},
                 {.name = "webhook_secret_file",
                  .kind = Kind::path,
                  .flag = "--webhook-secret-file",
                  .help = "file with the secret that signs what is sent there"},
                 {.name = "drain",
                  .kind = Kind::duration,
                  .flag = "--drain",
                  .help = "how long requests may take to end when it is told to stop",
                  .fallback = "30s"},
                 {.name = "reconcile",
                  .kind = Kind::duration,
                  .flag = "--reconcile",
                  .help = "how often machines and Computes are looked at",
                  .fallback = "30s"},
                 {.name = "public_url",
                  .flag = "--public-url",
                  .help = "https://HOST as browsers know this server"},
                 {.name = "trusted_proxies",
                  .kind = Kind::csv,
                  .flag = "--trusted-proxy",
                  .help = "addresses or ranges, comma-separated, whose X-Forwarded-For says who "
                          "asks"},
                 {.name = "oidc_issuer",
                  .flag = "--oidc-issuer",
                  .help = "address of the OpenID Connect provider that people sign in at"},
                 {.name = "oidc_client_id",
                  .flag = "--oidc-client-id",
                  .help = "what the provider calls this server"},
                 {.name = "oidc_client_secret_file",
                  .kind = Kind::path,
                  .flag = "--oidc-client-secret-file",
                  .help = "file with the secret that the provider gave this server"},
                 {.name = "oidc_groups_claim",
                  .flag = "--oidc-groups-claim",
                  .help = "claim that names a person's groups",
                  .fallback = "groups"},
                 {.name = "oidc_algorithms",
                  .flag = "--oidc-algorithms",
                  .help = "signatures of ID tokens that are accepted",
                  .fallback = "RS256,ES256,EdDSA"},
                 {.name = "oidc_ca",
                  .kind = Kind::path,
                  .flag = "--oidc-ca",
                  .help = "authority that the provider's certificate is from, in PEM"}},
      .examples = {"exa serve --listen 127.0.0.1:8480"},
      .changes = "Makes the data folder; what others change through it is audited."};
}

Result<ServeSettings> serve_settings(const LocalCall& call) {
  ServeSettings settings;
  EXA_ASSIGN(settings.home, home_of(call.invocation.globals.where, lookup_in(call.environment)));
  settings.home.hold_lock = true;
  if (const std::string listen = value_of(call, "listen"); listen != "none") {
    EXA_ASSIGN(settings.listen, parse_listen_address(listen));
  }
  settings.certificate = value_of(call, "tls_cert");
  settings.key = value_of(call, "tls_key");
  settings.access_log = value_of(call, "access_log");
  EXA_ASSIGN(settings.threads, parse_count(value_of(call, "threads"), "--threads"));
  EXA_ASSIGN(settings.drain, parse_duration(value_of(call, "drain")));
  EXA_ASSIGN(settings.reconcile, parse_duration(value_of(call, "reconcile")));
  if (settings.reconcile < seconds(1))
    return fail(Code::usage, "--reconcile is at least 1s", "exa serve --help");
  EXA_ASSIGN(settings.webhook, webhook_of(call));
  EXA_ASSIGN(settings.oidc, oidc_settings_of(call));
  settings.public_url = value_of(call, "public_url");
  const std::string proxies = value_of(call, "trusted_proxies");
  for (const std::string_view one : split(proxies, ',')) {
    if (trim(one).empty()) continue;
    EXA_ASSIGN(settings.trusted_proxies.emplace_back(), parse_address_range(trim(one)));
  }
  if (settings.certificate.empty() != settings.key.empty()) {
    return fail(Code::usage, "a certificate and its key go together",
                "exa serve --tls-cert FILE --tls-key FILE");
  }
  const bool plain = settings.certificate.empty();
  if (plain && settings.listen && !settings.listen->loopback) {
    return fail(Code::usage,
                fmt::format("{} can be reached by other machines, and without TLS anybody between "
                            "could read tokens and answers",
                            format_endpoint(settings.listen->endpoint)),
                "exa serve --listen … --tls-cert FILE --tls-key FILE, or --listen 127.0.0.1:8480 "
                "behind a proxy that speaks TLS");
  }
  return settings;
}

}  // namespace exa
