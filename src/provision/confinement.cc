#include "provision/confinement.h"

#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace exa {
namespace {

// Newer than the headers of Debian 12.
constexpr uint64_t kTruncate = uint64_t{1} << 14;    // version 3
constexpr uint64_t kScopeSignal = uint64_t{1} << 1;  // version 6
struct RuleSet {
  uint64_t handled_access_fs = 0;
  uint64_t handled_access_net = 0;  // version 4
  uint64_t scoped = 0;              // version 6
};

// Without the right to move a file between folders (version 2) programs fail in odd ways.
constexpr int kOldest = 2;

constexpr uint64_t kChanges =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
    LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;

size_t size_for(int version) {
  if (version >= 6) return sizeof(RuleSet);
  return version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

bool allow(int rules, const std::string& path, uint64_t access) {
  const Descriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place.is_open()) return errno == ENOENT;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = access;
  rule.parent_fd = place.get();
  return ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

}  // namespace

std::unique_ptr<Descriptor> writes_only_in(const std::string& folder) {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < kOldest) return nullptr;
  RuleSet handled;
  handled.handled_access_fs = kChanges | (version >= 3 ? kTruncate : 0);
  if (version >= 6) handled.scoped = kScopeSignal;
  const long made =
      ::syscall(SYS_landlock_create_ruleset, &handled, size_for(static_cast<int>(version)), 0);
  if (made < 0) return nullptr;
  auto rules = std::make_unique<Descriptor>(static_cast<int>(made));
  const uint64_t file = LANDLOCK_ACCESS_FS_WRITE_FILE | (handled.handled_access_fs & kTruncate);
  // Python's semaphores lie in /dev/shm; ssh and Ansible ask for terminals.
  const bool said =
      allow(rules->get(), folder, handled.handled_access_fs) &&
      allow(rules->get(), "/dev/shm", handled.handled_access_fs) &&
      allow(rules->get(), "/dev/pts", file) && allow(rules->get(), "/dev/ptmx", file) &&
      allow(rules->get(), "/dev/tty", file) && allow(rules->get(), "/dev/zero", file) &&
      allow(rules->get(), "/dev/full", file) && allow(rules->get(), "/dev/null", file);
  return said ? std::move(rules) : nullptr;
}

bool confine_to(int rules) {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}

}  // namespace exa
