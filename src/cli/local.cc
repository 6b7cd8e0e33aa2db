#include "cli/local.h"

#include <chrono>
#include <random>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "discover/probe.h"
#include "store/sqlite.h"

namespace exa {

struct LocalServer::Opened {
  std::unique_ptr<Store> store;
  AuditTrail trail;
  Service service;
  Router router;

  Opened(std::unique_ptr<Store> opened, const std::filesystem::path& folder, const Clock& clock)
      : store(std::move(opened)),
        trail(folder),
        service(*store, trail,
                {clock, new_id,
                 [clock](const ClusterAddress& address) { return probe(address, clock); }}),
        router(service) {}
};

Result<std::filesystem::path> data_folder(const std::optional<std::string>& given,
                                          const EnvironmentLookup& env) {
  const auto set = [&](const std::string& name) {
    auto value = env(name);
    return value && !value->empty() ? value : std::nullopt;
  };
  if (given && !given->empty()) return std::filesystem::path(*given);
  if (const auto home = set("EXA_HOME")) return std::filesystem::path(*home);
  if (const auto xdg = set("XDG_DATA_HOME")) return std::filesystem::path(*xdg) / "exa";
  if (const auto home = set("HOME")) return std::filesystem::path(*home) / ".local/share/exa";
  return fail(Code::usage, "there is no place for data: neither EXA_HOME nor HOME is set",
              "exa … --data DIR");
}

Result<Duration> lock_wait(const EnvironmentLookup& env) {
  const auto text = env("EXA_LOCK_WAIT");
  if (!text || text->empty()) return seconds(30);
  auto wait = parse_duration(*text);
  if (!wait) return fail(Code::usage, "EXA_LOCK_WAIT: " + wait.error().message);
  return *wait;
}

Principal operating_system_user() {
  const uid_t uid = ::geteuid();
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  std::string name = fmt::format("uid-{}", uid);
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    name = found->pw_name;
  }
  return {"os-user", name, fmt::format("uid:{}", uid)};
}

std::string process_origin() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0)
    return fmt::format("unknown:{}", ::getpid());
  return fmt::format("{}:{}", host.data(), ::getpid());
}

std::string new_id() {
  // 48 bits of milliseconds, then 80 random bits, in Crockford's base 32 (no I, L, O, U).
  constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  auto millis =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
  std::string id(26, '0');
  for (size_t i = 10; i-- > 0; millis >>= 5) id[i] = kDigits[millis & 31];
  std::random_device source;
  for (size_t i = 10; i < id.size(); ++i) id[i] = kDigits[source() & 31];
  return id;
}

LocalServer::LocalServer(std::filesystem::path folder, Clock clock, Duration lock_wait)
    : folder_(std::move(folder)), clock_(std::move(clock)), lock_wait_(lock_wait) {}

LocalServer::~LocalServer() = default;

Result<void> LocalServer::open() {
  // An audit checkpoint without a database: somebody removed what it vouches for. An empty store
  // would be a lie.
  std::error_code unknown;
  if (std::filesystem::exists(folder_ / "checkpoint", unknown) &&
      !std::filesystem::exists(folder_ / "exa.db", unknown)) {
    return fail(Code::store_damaged, fmt::format("{} is missing, but its audit checkpoint is there",
                                                 (folder_ / "exa.db").string()));
  }
  EXA_ASSIGN(auto store, open_sqlite({.folder = folder_, .lock_wait = lock_wait_}));
  opened_ = std::make_unique<Opened>(std::move(store), folder_, clock_);
  return {};
}

Reply LocalServer::handle(Request request) {
  if (!opened_) {
    if (const auto done = open(); !done) return reply_of(done.error(), request.request_id);
  }
  request.principal = operating_system_user();
  request.origin = process_origin();
  return opened_->router.handle(request);
}

}  // namespace exa
