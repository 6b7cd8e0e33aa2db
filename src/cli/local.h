// The service in this process, on a local data folder: what a command talks to when no server is
// named. The operating-system user owns the folder and may do everything (semantics §9).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/router.h"
#include "cli/environment.h"
#include "service/service.h"

namespace exa {

// --data, else $EXA_HOME, else $XDG_DATA_HOME/exa, else ~/.local/share/exa.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;
Result<std::filesystem::path> data_folder(const std::optional<std::string>& given,
                                          const EnvironmentLookup& env);

// --store, else $EXA_STORE, else "": SQLite in the data folder.
std::string store_named(const std::string& given, const EnvironmentLookup& env);
// A store that lies in a folder of its own takes its files along.
Result<std::filesystem::path> folder_of(const Where& where, const EnvironmentLookup& env);

// $EXA_LOCK_WAIT ("30s" unless set): how long a change waits for another process.
Result<Duration> lock_wait(const EnvironmentLookup& env);

// The store of an installation: on a server when `store` names one, else in the data folder, which
// holds the audit log's key and checkpoint either way. store_damaged for one whose database was
// taken away, besides the
// errors of open_sqlite.
struct Home {
  std::filesystem::path folder;
  std::string store;  // as --store names it; empty: SQLite in the folder
  Duration lock_wait = seconds(30);
  bool hold_lock = false;  // SQLite: nobody else may write as long as it is open
};
Result<std::unique_ptr<Store>> open_home(const Home& home);

Principal operating_system_user();
std::string process_origin();  // "host:pid"
std::string new_id();          // 26 characters, sortable by time

// What answers requests, on one store.
struct Instance {
  std::unique_ptr<Store> store;
  AuditTrail trail;
  Service service;
  Router router;

  Instance(std::unique_ptr<Store> opened, const std::filesystem::path& folder, const Clock& clock);
};

// Opens the folder at the first request, so that commands which need no store never touch it.
class LocalServer {
 public:
  // Without a folder everything is answered that needs no store (a bundle is verified anywhere).
  LocalServer(Result<std::filesystem::path> folder, Clock clock, Duration lock_wait,
              std::string store = {});
  ~LocalServer();

  // Fills in who asks and from where.
  Reply handle(Request request);

 private:
  void open();

  Result<std::filesystem::path> folder_;
  Clock clock_;
  Duration lock_wait_;
  std::string store_;
  std::unique_ptr<Instance> opened_;
};

}  // namespace exa
