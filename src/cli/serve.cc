#include "cli/serve.h"

#include <csignal>
#include <fstream>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/connect.h"
#include "server/discovery_loop.h"
#include "server/door.h"
#include "server/server.h"
#include "server/session_pages.h"
#include "server/watch_hub.h"
#include "server/webhook.h"
#include "service/sign_in.h"

namespace exa {
namespace {

// Blocked in every thread, so that only wait() sees them. To be made before any thread is.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int wait() const {
    int signal = 0;
    while (sigwait(&set_, &signal) != 0) {
    }
    return signal;
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

struct Settings {
  std::filesystem::path folder;
  std::string store;
  std::optional<ListenAddress> listen;
  std::string certificate;
  std::string key;
  std::string access_log;
  int64_t threads = 0;
  Duration drain = seconds(30);
  std::optional<WebhookTarget> webhook;
  std::optional<OidcSettings> oidc;
  std::string public_url;
};

// The secret comes from a file: an argument could be read by everybody on the machine.
Result<Secret> secret_in_file(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || text.size() > 4096)
    return fail(Code::usage, fmt::format("cannot read a client secret from {}", printable(path)));
  return Secret(std::string(trim(text)));
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
  if (const std::string path = value_of(call, "oidc_client_secret_file"); !path.empty()) {
    EXA_ASSIGN(oidc.client_secret, secret_in_file(path));
  }
  oidc.groups_claim = value_of(call, "oidc_groups_claim");
  oidc.public_url = value_of(call, "public_url");
  oidc.ca.file = value_of(call, "oidc_ca");
  EXA_ASSIGN(oidc.algorithms, parse_jws_algorithms(value_of(call, "oidc_algorithms")));
  EXA_TRY(check_oidc_settings(oidc));
  return std::optional(std::move(oidc));
}

Result<Settings> settings_of(const LocalCall& call) {
  Settings settings;
  const Where& where = call.invocation.globals.where;
  EXA_ASSIGN(settings.folder, folder_of(where, lookup_in(call.environment)));
  settings.store = store_named(where.store, lookup_in(call.environment));
  if (const std::string listen = value_of(call, "listen"); listen != "none") {
    EXA_ASSIGN(settings.listen, parse_listen_address(listen));
  }
  settings.certificate = value_of(call, "tls_cert");
  settings.key = value_of(call, "tls_key");
  settings.access_log = value_of(call, "access_log");
  EXA_ASSIGN(settings.threads, parse_count(value_of(call, "threads"), "--threads"));
  EXA_ASSIGN(settings.drain, parse_duration(value_of(call, "drain")));
  if (const std::string url = value_of(call, "webhook"); !url.empty()) {
    const std::string file = value_of(call, "webhook_secret_file");
    if (file.empty())
      return fail(Code::usage, "what a webhook is sent must be signed",
                  "--webhook-secret-file FILE");
    constexpr size_t kMostBytes = 4096;
    EXA_ASSIGN(const std::string secret, call.environment.read_file(file, kMostBytes));
    settings.webhook = WebhookTarget{url, Secret(std::string(trim(secret)))};
  }
  EXA_ASSIGN(settings.oidc, oidc_settings_of(call));
  settings.public_url = value_of(call, "public_url");
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

// Each connection takes one; the soft limit is often 1,024 where the hard one is far above.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void report(const LocalCall& call, AccessLog& log, std::string_view event, const std::string& text,
            json::object details) {
  call.environment.err(text + "\n");
  log.event(call.environment.clock(), event, std::move(details));
}

// Until the first user is made, a code that is shown to whoever starts the server is the way in. An
// address that others can reach is not opened before that: they could guess at it.
Result<void> offer_setup(const LocalCall& call, Service& service, const Settings& settings) {
  Caller caller;
  caller.principal = operating_system_user();
  caller.origin = process_origin();
  caller.action = "setup.offer";
  const auto code = make_setup_code(service, caller);
  if (!code && code.error().code == Code::conflict) return {};  // there are users
  if (!code) return fail(code.error());
  if (settings.listen && !settings.listen->loopback) {
    return fail(Code::usage,
                fmt::format("{} can be reached by other machines, and there is no user yet",
                            format_endpoint(settings.listen->endpoint)),
                "exa user create NAME --role platform-admin --password-file FILE");
  }
  call.environment.err(
      fmt::format("No user exists yet. The first admin is made with this code, once:\n"
                  "  {}\n"
                  "POST /api/v1/setup {{\"code\", \"user\", \"password\"}}, or on this machine: "
                  "exa user create NAME --role platform-admin\n",
                  code->reveal()));
  return {};
}

}  // namespace

Route serve_row() {
  return {.id = "local.serve",
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
                     {.name = "public_url",
                      .flag = "--public-url",
                      .help = "https://HOST as browsers know this server"},
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
          .examples = {"exa serve --listen 127.0.0.1:8480"}};
}

Result<LocalText> serve(const LocalCall& call) {
  EXA_ASSIGN(const Settings settings, settings_of(call));
  const Signals signals;
  raise_descriptor_limit();
  // Memory that a burst of requests took is kept for the next, in few arenas for many threads.
  mallopt(M_ARENA_MAX, 4);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  EXA_ASSIGN(const Duration wait, lock_wait(lookup_in(call.environment)));
  EXA_ASSIGN(auto store, open_home({.folder = settings.folder,
                                    .store = settings.store,
                                    .lock_wait = wait,
                                    .hold_lock = true}));
  EXA_ASSIGN(const auto log, AccessLog::open(settings.access_log));
  std::unique_ptr<TlsFiles> tls;
  if (!settings.certificate.empty()) {
    EXA_ASSIGN(tls, TlsFiles::open(settings.certificate, settings.key));
  }
  Instance exa(std::move(store), settings.folder, call.environment.clock);
  EXA_TRY(offer_setup(call, exa.service, settings));
  Metrics metrics;
  Door door(exa.service, operating_system_user());
  WatchHub watch(exa.service);
  DiscoveryLoop discovery(exa.service, *log, metrics);
  std::optional<Webhook> webhook;
  if (settings.webhook) webhook.emplace(exa.service, *settings.webhook, *log, metrics);
  std::optional<OidcClient> oidc;
  if (settings.oidc) oidc.emplace(*settings.oidc, http_send, call.environment.clock);
  SessionPages sessions(exa.service, oidc ? &*oidc : nullptr, settings.public_url);
  Application application(
      {exa.service, exa.router, std::ref(door), watch, sessions, *log, metrics});
  Server server(application,
                {.listen = settings.listen,
                 .unix_socket = socket_in(settings.folder),
                 .tls = tls.get(),
                 .threads = static_cast<size_t>(settings.threads),
                 .drain_time = std::chrono::milliseconds(settings.drain.micros / 1000)});
  EXA_TRY(server.start());
  door.start();
  watch.start();
  discovery.start();
  if (webhook) webhook->start();
  const std::string where = server.address().empty()
                                ? socket_in(settings.folder).string()
                                : fmt::format("{}://{}", tls ? "https" : "http", server.address());
  report(call, *log, "started", fmt::format("exa {} answers at {}", EXA_VERSION, where),
         {{"address", where}, {"store", exa.store->describe()}, {"version", EXA_VERSION}});
  while (signals.wait() == SIGHUP) {
    const Result<void> read = tls ? tls->reload() : Result<void>();
    const Result<void> opened = log->reopen();
    for (const auto& outcome : {read, opened})
      if (!outcome) call.environment.err(outcome.error().message + "\n");
    report(call, *log, "reloaded", "Certificates and the access log were read anew.",
           {{"tls", tls != nullptr && read.has_value()}});
  }
  report(call, *log, "stopping", "Stopping: no new requests; those that began are ended.", {});
  application.drain();
  watch.stop();  // streams would never end by themselves
  server.stop();
  discovery.stop();
  door.stop();
  if (webhook) webhook->stop();
  report(call, *log, "stopped", "Stopped.", {});
  return LocalText("");
}

}  // namespace exa
