#include "audit/key_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 10;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

Failure write_failure(std::string_view doing, const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return fail(full ? Code::store_full : Code::store_unwritable,
              fmt::format("cannot {} {}: {}", doing, path, std::strerror(error)));
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return write_failure("write", path, written < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Result<void> sync_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open() || ::fsync(fd.get()) != 0) return write_failure("sync", folder, errno);
  return {};
}

// A name of its own: what somebody keeps beside the file ("checkpoint.backup") is never a draft.
constexpr std::string_view kDraft = ".draft.";
constexpr std::string_view kDraftLetters = "XXXXXX";

// A file under a temporary name in the folder of `path`, complete and synced; removed unless kept.
class Draft {
 public:
  Draft() = default;
  ~Draft() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  Result<void> write(const std::string& path, std::string_view bytes, mode_t mode) {
    std::string name = fmt::format("{}{}{}", path, kDraft, kDraftLetters);
    const Descriptor fd(::mkostemp(name.data(), O_CLOEXEC));  // O_EXCL, mode 0600
    if (!fd.is_open()) return write_failure("create", path, errno);
    name_ = std::move(name);
    if (::fchmod(fd.get(), mode) != 0) return write_failure("create", path, errno);
    EXA_TRY(write_all(fd.get(), bytes, path));
    if (::fsync(fd.get()) != 0) return write_failure("sync", path, errno);
    return {};
  }

  Result<void> replace(const std::string& path) {
    if (::rename(name_.c_str(), path.c_str()) != 0) return write_failure("replace", path, errno);
    name_.clear();
    return sync_folder(path);
  }

  // A hard link, unlike a rename, fails when the name is taken: O_EXCL for a file that is complete.
  Result<void> place_new(const std::string& path) {
    if (::link(name_.c_str(), path.c_str()) != 0) {
      if (errno == EEXIST) return fail(Code::conflict, fmt::format("{} exists already", path));
      return write_failure("create", path, errno);
    }
    return sync_folder(path);
  }

 private:
  std::string name_;
};

// Drafts that a process left when it was killed. Whoever replaces the file is the only one that
// writes it, so none of them is in use.
void remove_left_drafts(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string prefix = fmt::format("{}{}", file.filename().string(), kDraft);
  std::error_code ignored;  // an untidy folder is no reason to refuse
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(path), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.size() == prefix.size() + kDraftLetters.size())
      std::filesystem::remove(entry.path(), ignored);
  }
}

Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode) {
  remove_left_drafts(path);
  Draft draft;
  EXA_TRY(draft.write(path, bytes, mode));
  return draft.replace(path);
}

Result<void> check_secret_mode(const struct stat& status, const std::string& path) {
  if ((status.st_mode & 077) != 0) {
    return fail(
        Code::store_damaged,
        fmt::format("the signing key {} may be read by others (mode {:04o}); whoever has it "
                    "can forge the audit log",
                    path, status.st_mode & 07777),
        fmt::format("chmod 600 {}", path));
  }
  if (status.st_uid != ::geteuid()) {
    return fail(
        Code::store_damaged,
        fmt::format("the signing key {} belongs to another user (uid {})", path, status.st_uid));
  }
  return {};
}

enum class Secrecy { open, secret };

// The whole of a small regular file. The text is wiped by its holder when it is secret.
Result<SecretText> read_small_file(const std::string& path, Secrecy secrecy) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.is_open()) {
    if (errno == ENOENT) return fail(Code::not_found, fmt::format("there is no {}", path));
    return fail(Code::store_damaged, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return fail(Code::store_damaged, fmt::format("{} is not a regular file", path));
  }
  if (secrecy == Secrecy::secret) EXA_TRY(check_secret_mode(status, path));
  std::string text(kMaxFileBytes + 1, '\0');  // one buffer: growing would leave copies behind
  size_t length = 0;
  while (length < text.size()) {
    const ssize_t count = ::read(fd.get(), text.data() + length, text.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      OPENSSL_cleanse(text.data(), text.size());
      return fail(Code::store_damaged,
                  fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
    if (count == 0) break;
    length += static_cast<size_t>(count);
  }
  text.resize(length);
  SecretText whole(std::move(text));
  if (length > kMaxFileBytes) {
    return fail(Code::store_damaged, fmt::format("{} is longer than {} bytes: exa did not write it",
                                                 path, kMaxFileBytes));
  }
  return whole;
}

std::string_view without_newline(std::string_view text) {
  return text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
}

Failure naming(Error error, const std::string& path) {
  error.code = Code::store_damaged;
  error.message = fmt::format("{}: {}", path, error.message);
  return fail(std::move(error));
}

}  // namespace

Result<void> create_key_file(const std::string& path, const SigningKey& key) {
  Draft draft;
  const SecretText text = key.secret_text();
  EXA_TRY(draft.write(path, text.reveal(), 0600));
  return draft.place_new(path);
}

Result<SigningKey> load_key_file(const std::string& path) {
  EXA_ASSIGN(const SecretText text, read_small_file(path, Secrecy::secret));
  auto key = SigningKey::from_text(without_newline(text.reveal()));
  if (!key) return naming(std::move(key).error(), path);
  return key;
}

Result<void> write_public_key_file(const std::string& path, const PublicKey& key) {
  return replace_file(path, to_text(key) + "\n", 0644);
}

Result<PublicKey> read_public_key_file(const std::string& path) {
  EXA_ASSIGN(const SecretText text, read_small_file(path, Secrecy::open));
  auto key = public_key_from_text(without_newline(text.reveal()));
  if (!key) return naming(std::move(key).error(), path);
  return key;
}

Result<void> write_checkpoint_file(const std::string& path, std::string_view checkpoint) {
  return replace_file(path, checkpoint, 0644);
}

Result<std::string> read_checkpoint_file(const std::string& path) {
  EXA_ASSIGN(const SecretText text, read_small_file(path, Secrecy::open));
  return std::string(text.reveal());
}

}  // namespace exa
