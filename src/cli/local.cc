#include "cli/local.h"

#include <chrono>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "cli/errors.h"
#include "discover/probe.h"
#include "launch/driver.h"

namespace exa {

namespace {

// Says why there is no store to whoever needs one.
class NoStore : public Store {
 public:
  explicit NoStore(Error why) : why_(std::move(why)) {}
  Result<void> read(const Work&) override { return fail(why_); }
  Result<void> write(const Work&, const Committed&) override { return fail(why_); }
  Result<void> rehearse(const Work&) override { return fail(why_); }
  Result<void> together(Parts parts) override {
    for (const auto& part : parts) part();
    return {};
  }
  Result<std::unique_ptr<Ownership>> try_own(const std::string&) override { return fail(why_); }
  std::string describe() const override { return why_.message; }

 private:
  Error why_;
};

Result<Duration> lock_wait(const EnvironmentLookup& env) {
  const auto text = env("EXA_LOCK_WAIT");
  if (!text || text->empty()) return seconds(30);
  auto wait = parse_duration(*text);
  if (!wait) return fail(Code::usage, "EXA_LOCK_WAIT: " + wait.error().message);
  return *wait;
}

// Both empty: no store was named.
Result<StorePlace> place_named(const Where& where, const EnvironmentLookup& env) {
  if (!where.store.empty()) return parse_store_name(where.store);
  const std::string set = env("EXA_STORE").value_or("");
  if (set.empty()) return StorePlace{};
  auto place = parse_store_name(set);
  if (!place) return fail(Code::usage, "EXA_STORE: " + place.error().message);
  return place;
}

bool same_folder(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code unknown;
  const auto whole = [&](const auto& path) {
    // with a slash at the end, or not: the same
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path / "", unknown),
                                             unknown);
  };
  return whole(a) == whole(b);
}

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
  // An audit checkpoint without a database: somebody removed what it vouches for. An empty store
  // would be a lie.
  const std::filesystem::path database = home.folder / "exa.db";
  std::error_code unknown;
  if (home.server.empty() && std::filesystem::exists(home.folder / "checkpoint", unknown) &&
      holds_nothing(database)) {
    const bool there = std::filesystem::exists(database, unknown);
    return fail(Code::store_damaged, fmt::format("{} is {}, but its audit checkpoint is there",
                                                 database.string(), there ? "empty" : "missing"));
  }
  return open_store(
      {.place = home.place(), .lock_wait = home.lock_wait, .hold_lock = home.hold_lock});
}

Instance::Instance(std::unique_ptr<Store> opened, const std::filesystem::path& folder,
                   const Clock& clock)
    : store(std::move(opened)),
      trail(folder),
      service(*store, trail,
              {clock, new_id,
               [clock](const ClusterAddress& address, Progress& progress) {
                 return probe(address, clock, progress);
               },
               driver_for,
               [](Duration wait) {
                 std::this_thread::sleep_for(std::chrono::microseconds(wait.micros));
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

Result<Home> home_of(const Where& where, const EnvironmentLookup& env) {
  Home home;
  EXA_ASSIGN(home.lock_wait, lock_wait(env));
  EXA_ASSIGN(StorePlace place, place_named(where, env));
  home.server = std::move(place.server);
  const std::string& data = where.data_folder;
  if (place.folder.empty()) {
    EXA_ASSIGN(home.folder, data_folder(data, env));
    return home;
  }
  if (where.store.empty() && !data.empty()) {
    home.folder = data;
    return home;
  }
  if (!data.empty() && !same_folder(data, place.folder)) {
    return fail(
        Code::usage,
        fmt::format("--data {} and --store {} name two folders; a store in a folder has its "
                    "files there",
                    echoed(data), echoed(place.folder.string())),
        "exa … --data DIR");
  }
  home.folder = std::move(place.folder);
  return home;
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

LocalServer::LocalServer(Result<Home> home, Clock clock)
    : home_(std::move(home)), clock_(std::move(clock)) {}

LocalServer::~LocalServer() = default;

void LocalServer::open() {
  const std::filesystem::path folder = home_ ? home_->folder : std::filesystem::path();
  auto store = home_ ? open_home(*home_) : Result<std::unique_ptr<Store>>(fail(home_.error()));
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
