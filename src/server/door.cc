#include "server/door.h"

#include <unistd.h>

#include "audit/digest.h"
#include "base/text.h"
#include "server/cookies.h"
#include "service/sign_in.h"

namespace exa {
namespace {

// Rights that were taken away on another replica are still used for this long at most.
constexpr auto kRemembered = std::chrono::milliseconds(500);
constexpr size_t kMostRemembered = 10'000;
constexpr std::chrono::milliseconds kWriteDown{1000};

using Authenticate = Result<Principal>(Service&, std::string_view, Time, const NoteUse&);

Door::Known nobody() {
  static const auto principal = std::make_shared<const Principal>();
  return principal;
}

bool comes_over_socket(const Incoming& incoming) {
  return incoming.peer_uid && incoming.authorization.empty();
}

}  // namespace

std::optional<std::string> bearer_of(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size() ||
      lower(authorization.substr(0, kScheme.size())) != kScheme)
    return std::nullopt;
  return std::string(trim(authorization.substr(kScheme.size())));
}

Result<Door::Known> Door::who(const Incoming& incoming) {
  return find(incoming, true);
}

Result<Door::Known> Door::still(const Incoming& incoming) {
  return find(incoming, false);
}

Door::Known Door::remembered(const Incoming& incoming) const {
  if (comes_over_socket(incoming)) return over_socket(*incoming.peer_uid).value_or(nullptr);
  const auto credential = credential_in(incoming);
  if (!credential) return nullptr;
  return *credential ? remembered(sha256_hex((*credential)->text)) : nobody();
}

Result<Door::Known> Door::find(const Incoming& incoming, bool is_use) {
  if (comes_over_socket(incoming)) return over_socket(*incoming.peer_uid);
  EXA_ASSIGN(const auto credential, credential_in(incoming));
  if (!credential) return nobody();
  return with_credential(*credential, is_use);
}

Result<std::optional<Door::Credential>> Door::credential_in(const Incoming& incoming) {
  if (!incoming.authorization.empty()) {
    auto token = bearer_of(incoming.authorization);
    if (!token)
      return fail(Code::unauthenticated, "a token is sent as Authorization: Bearer TOKEN");
    return Credential{*std::move(token), true};
  }
  std::string session = session_in(incoming.cookie, incoming.tls);
  if (session.empty()) return std::nullopt;
  return Credential{std::move(session), false};
}

void Door::start(Periodic::Threw threw) {
  thread_.start(
      [this] {
        write_down();
        return kWriteDown;
      },
      std::move(threw));
}

void Door::stop() {
  thread_.stop();
  write_down();
}

void Door::note(Use use) {
  const std::lock_guard lock(uses_mutex_);
  uses_.push_back(std::move(use));
}

void Door::write_down() {
  std::vector<Use> uses;
  {
    const std::lock_guard lock(uses_mutex_);
    uses.swap(uses_);
  }
  // a use that could not be written is noted again a minute later
  static_cast<void>(write_uses(service_, uses));
}

Result<Door::Known> Door::over_socket(uid_t peer) const {
  if (peer == ::geteuid() || peer == 0) return owner_;
  return fail(Code::forbidden, "only the owner of the data folder may use its socket",
              "exa login, and the server's address");
}

Result<Door::Known> Door::with_credential(const Credential& credential, bool is_use) {
  const std::string digest = sha256_hex(credential.text);
  if (Known principal = remembered(digest)) return principal;
  const uint64_t changes = service_.rights_changes();
  const NoteUse later = [&](Use use) {
    if (is_use) note(std::move(use));
  };
  const auto authenticate = credential.is_token ? static_cast<Authenticate*>(authenticate_token)
                                                : static_cast<Authenticate*>(authenticate_session);
  EXA_ASSIGN(Principal principal, authenticate(service_, credential.text, service_.now(), later));
  auto known = std::make_shared<const Principal>(std::move(principal));
  // what was found without a use hides none that follows
  if (is_use) remember(digest, changes, known);
  return known;
}

Door::Known Door::remembered(const std::string& digest) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(digest);
  if (found == known_.end()) return nullptr;
  const Remembered& remembered = found->second;
  if (remembered.changes != service_.rights_changes() ||
      remembered.until <= std::chrono::steady_clock::now())
    return nullptr;
  const auto& valid_until = remembered.principal->valid_until;
  if (valid_until && *valid_until <= service_.now()) return nullptr;
  return remembered.principal;
}

void Door::remember(const std::string& digest, uint64_t changes, Known principal) {
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostRemembered) known_.clear();
  known_[digest] = {std::move(principal), changes, std::chrono::steady_clock::now() + kRemembered};
}

}  // namespace exa
