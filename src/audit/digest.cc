#include "audit/digest.h"

#include <openssl/evp.h>

#include "base/error.h"
#include "base/text.h"

namespace exa {
namespace {

// OpenSSL 3 looks the algorithm up on every one-shot call; fetching it once and keeping a context
// for each thread makes hashing a short leaf several times cheaper.
const EVP_MD* algorithm() {
  static const EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EXA_ASSERT(kSha256 != nullptr);
  return kSha256;
}

EVP_MD_CTX* context() {
  struct Free {
    void operator()(EVP_MD_CTX* c) const { EVP_MD_CTX_free(c); }
  };
  thread_local const std::unique_ptr<EVP_MD_CTX, Free> kContext(EVP_MD_CTX_new());
  EXA_ASSERT(kContext != nullptr);
  return kContext.get();
}

}  // namespace

Hash sha256(std::initializer_list<std::string_view> parts) {
  EVP_MD_CTX* const hashing = context();
  EXA_ASSERT(EVP_DigestInit_ex2(hashing, algorithm(), nullptr) == 1);
  for (const std::string_view part : parts) {
    EXA_ASSERT(EVP_DigestUpdate(hashing, part.data(), part.size()) == 1);
  }
  Hash result{};
  EXA_ASSERT(EVP_DigestFinal_ex(hashing, result.data(), nullptr) == 1);
  return result;
}

Hash sha256(std::string_view bytes) {
  return sha256({bytes});
}

std::string sha256_hex(std::string_view text) {
  return hex(sha256(text));
}

std::string_view bytes_of(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

std::optional<Hash> hash_from_bytes(std::string_view bytes) {
  Hash hash{};
  if (bytes.size() != hash.size()) return std::nullopt;
  std::ranges::copy(bytes, hash.begin());
  return hash;
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace exa
