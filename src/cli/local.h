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
#include "store/open.h"

namespace exa {

// --data, else $EXA_HOME, else $XDG_DATA_HOME/exa, else ~/.local/share/exa.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;
Result<std::filesystem::path> data_folder(const std::optional<std::string>& given,
                                          const EnvironmentLookup& env);

// Where an installation is.
struct Home {
  std::filesystem::path folder;  // of the audit log's key and checkpoint; with SQLite the store's
  std::string server;            // "postgresql://…"; empty: SQLite in the folder
  Duration lock_wait = seconds(30);  // how long a change waits for another process
  bool hold_lock = false;            // SQLite: nobody else may write as long as it is open

  StorePlace place() const {
    return server.empty() ? StorePlace{folder, ""} : StorePlace{{}, server};
  }
};

// What was typed stands above what is set, and a store above a folder:
//   --store; --data, beside which $EXA_STORE may still name a server; $EXA_STORE; $EXA_HOME and so
//   on.
// A store in a folder has its files there; those of a server are in the data folder. $EXA_LOCK_WAIT
// ("30s" unless set) is read here too. usage, invalid_input: whatever is wrong with one of these,
// or
// --data and --store that name two folders.
Result<Home> home_of(const Where& where, const EnvironmentLookup& env);

// Its store. store_damaged for a folder whose database was taken away, besides the errors of
// open_store.
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
  // Without a home everything is answered that needs no store (a bundle is verified anywhere).
  LocalServer(Result<Home> home, Clock clock);
  ~LocalServer();

  // Fills in who asks and from where.
  Reply handle(Request request);

 private:
  void open();

  Result<Home> home_;
  Clock clock_;
  std::unique_ptr<Instance> opened_;
};

}  // namespace exa
