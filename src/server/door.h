// Who is at the door: the kernel's word on a unix socket, a token, a session cookie, or nobody.
// What was found is remembered for as long as a revocation may take to be felt (trust: one second).
#pragma once

#include <chrono>
#include <mutex>
#include <unordered_map>

#include "server/exchange.h"
#include "server/periodic.h"
#include "service/service.h"
#include "service/sign_in.h"

namespace exa {

class Door {
 public:
  using Known = std::shared_ptr<const Principal>;

  // `owner`: who comes over the unix socket with this process's own user id, or as root.
  Door(Service& service, Principal owner)
      : service_(service), owner_(std::make_shared<const Principal>(std::move(owner))) {}

  ~Door() { stop(); }
  // A thread that writes down, once a second, which credentials were used.
  void start(Periodic::Threw threw);
  void stop();

  // unauthenticated for credentials that are wrong; a principal without a kind for none at all (the
  // routes decide what nobody may do). Any thread that may wait for the store.
  Result<Known> who(const Incoming& incoming);
  // The same of somebody who asked before and does nothing now: it is no use of what they came
  // with, so that a page that only watches keeps no session alive.
  Result<Known> still(const Incoming& incoming);
  // What `who` would say, if that is remembered; null: ask it. Any thread, does not wait.
  Known remembered(const Incoming& incoming) const;

 private:
  using Moment = std::chrono::steady_clock::time_point;
  struct Remembered {
    Known principal;
    uint64_t changes;
    Moment until;
  };
  struct Credential {
    std::string text;
    bool is_token;  // else a session's id
  };

  static Result<std::optional<Credential>> credential_in(const Incoming& incoming);
  Result<Known> find(const Incoming& incoming, bool is_use);
  Result<Known> over_socket(uid_t peer) const;
  Result<Known> with_credential(const Credential& credential, bool is_use);
  Known remembered(const std::string& digest) const;  // null: not any more
  void remember(const std::string& digest, uint64_t changes, Known principal);
  void note(Use use);
  void write_down();

  Service& service_;
  Known owner_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Remembered>
      known_;  // by digest: the credential itself is not kept

  std::mutex uses_mutex_;
  std::vector<Use> uses_;
  Periodic thread_;
};

// The token of "Bearer …"; nullopt for another scheme or none. Pure.
std::optional<std::string> bearer_of(std::string_view authorization);

}  // namespace exa
