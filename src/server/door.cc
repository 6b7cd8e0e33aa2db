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

}  // namespace

std::optional<std::string> bearer_of(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size() ||
      lower(authorization.substr(0, kScheme.size())) != kScheme)
    return std::nullopt;
  return std::string(trim(authorization.substr(kScheme.size())));
}

Result<Door::Known> Door::operator()(const Incoming& incoming) {
  static const auto nobody = std::make_shared<const Principal>();
  if (incoming.peer_uid && incoming.authorization.empty()) return over_socket(*incoming.peer_uid);
  if (!incoming.authorization.empty()) {
    const auto token = bearer_of(incoming.authorization);
    if (!token)
      return fail(Code::unauthenticated, "a token is sent as Authorization: Bearer TOKEN");
    return with_credential(*token, true);
  }
  const std::string session = session_in(incoming.cookie, incoming.tls);
  if (session.empty()) return nobody;
  return with_credential(session, false);
}

void Door::start() {
  thread_ = std::thread([this] { write_down(); });
}

void Door::stop() {
  {
    const std::lock_guard lock(uses_mutex_);
    stopping_ = true;
  }
  woken_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Door::write_down() {
  std::unique_lock lock(uses_mutex_);
  while (!stopping_) {
    woken_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_; });
    const std::vector<Use> uses = std::exchange(uses_, {});
    lock.unlock();
    // a use that could not be written is noted again a minute later
    static_cast<void>(write_uses(service_, uses));
    lock.lock();
  }
}

Result<Door::Known> Door::over_socket(uid_t peer) const {
  if (peer == ::geteuid() || peer == 0) return owner_;
  return fail(Code::forbidden, "only the owner of the data folder may use its socket",
              "exa login, and the server's address");
}

Result<Door::Known> Door::with_credential(const std::string& credential, bool is_token) {
  const std::string digest = sha256_hex(credential);
  if (Known principal = remembered(digest)) return principal;
  const uint64_t changes = service_.rights_changes();
  const NoteUse later = [this](Use use) {
    const std::lock_guard lock(uses_mutex_);
    uses_.push_back(std::move(use));
  };
  auto principal = is_token ? authenticate_token(service_, credential, service_.now(), later)
                            : authenticate_session(service_, credential, service_.now(), later);
  if (!principal) return fail(std::move(principal).error());
  auto known = std::make_shared<const Principal>(*std::move(principal));
  remember(digest, changes, known);
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
