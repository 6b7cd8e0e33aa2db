#include "cli/local.h"

#include <chrono>
#include <random>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "discover/probe.h"
#include "store/open.h"
#include "store/sqlite.h"

namespace exa {

namespace {

// Says why there is no store to whoever needs one.
class NoStore : public Store {
 public:
  explicit NoStore(Error why) : why_(std::move(why)) {}
  Result<void> read(const Work&) override { return fail(why_); }
  Result<void> write(const Work&, const Committed&) override { return fail(why_); }
  Result<void> rehearse(const Work&) override { return fail(why_); }
  Result<std::unique_ptr<Ownership>> try_own(const std::string&) override { return fail(why_); }
  std::string describe() const override { return why_.message; }

 private:
  Error why_;
};

// Missing or without a byte, and no journal that could fill it.
bool holds_nothing(const std::filesystem::path& database) {
  const auto bytes = [](const std::filesystem::path& file) {
    std::error_code unknown;
    const auto size = std::filesystem::file_size(file, unknown);
    return unknown ? 0 : size;
  };
  return bytes(database) == 0 && bytes(database.string() + "-wal") == 0;
}

}  // namespace

Result<std::unique_ptr<Store>> open_home(const Home& home) {
  if (!home.store.empty() && !folder_of_store(home.store))
    return open_store({.store = home.store, .lock_wait = home.lock_wait});
  // An audit checkpoint without a database: somebody removed what it vouches for. An empty store
  // would be a lie.
  const std::filesystem::path database = home.folder / "exa.db";
  std::error_code unknown;
  if (std::filesystem::exists(home.folder / "checkpoint", unknown) && holds_nothing(database)) {
    const bool there = std::filesystem::exists(database, unknown);
    return fail(Code::store_damaged, fmt::format("{} is {}, but its audit checkpoint is there",
                                                 database.string(), there ? "empty" : "missing"));
  }
  return open_sqlite(
      {.folder = home.folder, .lock_wait = home.lock_wait, .hold_lock = home.hold_lock});
}

Instance::Instance(std::unique_ptr<Store> opened, const std::filesystem::path& folder,
                   const Clock& clock)
    : store(std::move(opened)),
      trail(folder),
      service(*store, trail,
              {clock, new_id,
               [clock](const ClusterAddress& address, Progress& progress) {
                 return probe(address, clock, progress);
               }}),
      router(service) {}

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

std::string store_named(const std::string& given, const EnvironmentLookup& env) {
  return given.empty() ? env("EXA_STORE").value_or("") : given;
}

Result<std::filesystem::path> folder_of(const Where& where, const EnvironmentLookup& env) {
  const std::string store = store_named(where.store, env);
  if (!store.empty())
    if (auto folder = folder_of_store(store)) return *std::move(folder);
  return data_folder(where.data_folder, env);
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
  return owner_of_folder(std::move(name), fmt::format("uid:{}", uid));
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

LocalServer::LocalServer(Result<std::filesystem::path> folder, Clock clock, Duration lock_wait,
                         std::string store)
    : folder_(std::move(folder)),
      clock_(std::move(clock)),
      lock_wait_(lock_wait),
      store_(std::move(store)) {}

LocalServer::~LocalServer() = default;

void LocalServer::open() {
  const std::filesystem::path folder = folder_ ? *folder_ : std::filesystem::path();
  auto store = folder_ ? open_home({folder, store_, lock_wait_})
                       : Result<std::unique_ptr<Store>>(fail(folder_.error()));
  if (!store) store = std::make_unique<NoStore>(store.error());
  opened_ = std::make_unique<Instance>(*std::move(store), folder, clock_);
}

Reply LocalServer::handle(Request request) {
  if (request.detached) {
    return reply_of({Code::usage,
                     "--no-wait needs a server that goes on: here this command does the work",
                     {},
                     "exa serve, or --server URL",
                     {}},
                    request.request_id);
  }
  if (!opened_) open();
  request.principal = operating_system_user();
  request.origin = process_origin();
  return opened_->router.handle(request);
}

}  // namespace exa
