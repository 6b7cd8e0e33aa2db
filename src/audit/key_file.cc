#include "audit/key_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/private_file.h"

namespace exa {
namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 10;

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
  return create_file(path, key.secret_text().reveal(), 0600);
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
