#include "cli/serve.h"

#include <csignal>

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include "base/private_folder.h"
#include "cli/connect.h"
#include "cli/serve_settings.h"
#include "server/compute_loop.h"
#include "server/discovery_loop.h"
#include "server/door.h"
#include "server/instance_loop.h"
#include "server/launch_loop.h"
#include "server/server.h"
#include "server/session_pages.h"
#include "server/watch_hub.h"
#include "service/sign_in.h"
#include "store/lock_file.h"

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

// Each connection takes one; the soft limit is often 1,024 where the hard one is far above.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void report(const LocalCall& call, AccessLog& log, std::string_view event, const std::string& text,
            const json::object& details) {
  call.environment.err(text + "\n");
  log.event(call.environment.clock(), event, details);
}

// Until the first user is made, a code that is shown to whoever starts the server is the way in. An
// address that others can reach is not opened before that: they could guess at it.
Result<void> offer_setup(const LocalCall& call, Service& service, const ServeSettings& settings) {
  Caller caller;
  caller.principal = operating_system_user();
  caller.origin = process_origin();
  caller.action = "setup.offer";
  const bool reachable = settings.listen && !settings.listen->loopback;
  caller.dry_run = reachable;  // only to see whether one would be needed
  const auto code = make_setup_code(service, caller);
  if (!code && code.error().code == Code::conflict) return {};  // there are users
  if (!code) return fail(code.error());
  if (reachable) {
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

// One server on a data folder, whatever store it works on: there is one socket in it.
Result<LockFile> only_server_on(const Home& home) {
  EXA_TRY(make_private_folder(home.folder));
  auto lock = LockFile::acquire(home.folder / "exa.serve.lock", home.lock_wait);
  if (!lock && lock.error().code == Code::store_locked) {
    return fail(Code::store_locked,
                fmt::format("another exa serve runs on {}", home.folder.string()),
                "exa serve --data DIR, with a folder of its own for each replica");
  }
  return lock;
}

}  // namespace

Result<LocalText> serve(const LocalCall& call) {
  EXA_ASSIGN(const ServeSettings settings, serve_settings(call));
  const Signals signals;
  raise_descriptor_limit();
  // Memory that a burst of requests took is kept for the next, in few arenas for many threads.
  mallopt(M_ARENA_MAX, 4);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  EXA_ASSIGN(const LockFile only, only_server_on(settings.home));
  EXA_ASSIGN(auto store, open_home(settings.home));
  EXA_ASSIGN(const auto log, AccessLog::open(settings.access_log));
  std::unique_ptr<TlsFiles> tls;
  if (!settings.certificate.empty()) {
    EXA_ASSIGN(tls, TlsFiles::open(settings.certificate, settings.key));
  }
  Instance exa(std::move(store), settings.home.folder, call.environment.clock);
  EXA_TRY(offer_setup(call, exa.service, settings));
  Metrics metrics;
  Door door(exa.service, operating_system_user());
  WatchHub watch(exa.service);
  DiscoveryLoop discovery(exa.service, *log);
  LaunchLoop launches(exa.service, *log);
  ComputeLoop computes(exa.service, *log, settings.reconcile);
  InstanceLoop instances(exa.service, *log);
  HttpClient to_webhook;
  std::optional<Webhook> webhook;
  if (settings.webhook) {
    const auto send = [&](const HttpRequest& request) { return to_webhook.send(request); };
    webhook.emplace(exa.service, *settings.webhook, send, *log, metrics);
  }
  std::optional<OidcClient> oidc;
  if (settings.oidc) oidc.emplace(*settings.oidc, http_send, call.environment.clock);
  SessionPages sessions(exa.service, oidc ? &*oidc : nullptr, settings.public_url);
  OperationRunner operations(exa.service, exa.router);
  Application application({exa.service, exa.router, door, operations, watch, sessions, *log,
                           metrics, settings.public_url, settings.trusted_proxies});
  Server server(application,
                {.listen = settings.listen,
                 .unix_socket = socket_in(settings.home.folder),
                 .tls = tls.get(),
                 .threads = static_cast<size_t>(settings.threads),
                 .drain_time = std::chrono::milliseconds(settings.drain.micros / 1000)});
  EXA_TRY(operations.start());
  EXA_TRY(server.start());
  const auto threw = [&](std::string name) {
    return [&call, &log, name = std::move(name)](const std::string& why) {
      log->event(call.environment.clock(), "failed", {{"in", name}, {"error", why}});
    };
  };
  door.start(threw("sign-in"));
  watch.start(threw("watch"));
  discovery.start(threw("discovery"));
  launches.start(threw("launches"));
  computes.start(threw("computes"));
  instances.start(threw("instances"));
  if (webhook) webhook->start(threw("webhook"));
  const std::string where = server.address().empty()
                                ? socket_in(settings.home.folder).string()
                                : fmt::format("{}://{}", tls ? "https" : "http", server.address());
  report(call, *log, "started", fmt::format("exa {} answers at {}", EXA_VERSION, where),
         {{"address", where}, {"store", exa.store->describe()}, {"version", EXA_VERSION}});
  while (signals.wait() == SIGHUP) {
    const Result<void> read = tls ? tls->reload() : Result<void>();
    const Result<void> opened = log->reopen();
    for (const auto& outcome : {read, opened})
      if (!outcome) call.environment.err(outcome.error().message + "\n");
    report(call, *log, "reloaded",
           read && opened ? "Certificates and the access log were read anew."
                          : "Not read anew: what was in use before stays so.",
           {{"tls", tls != nullptr && read.has_value()}, {"access_log", opened.has_value()}});
  }
  report(call, *log, "stopping", "Stopping: no new requests; those that began are ended.", {});
  application.drain();
  watch.stop();  // streams would never end by themselves
  launches.stop();
  computes.stop();
  instances.stop();
  discovery.stop();  // it must not begin to ask clusters now
  operations.stop();
  server.stop();
  door.stop();
  if (webhook) webhook->stop();
  report(call, *log, "stopped", "Stopped.", {});
  return LocalText("");
}

}  // namespace exa
