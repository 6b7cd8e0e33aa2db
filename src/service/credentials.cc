#include "service/credentials.h"

#include <array>
#include <cstdint>

#include <boost/crc.hpp>
#include <sodium.h>

#include "audit/digest.h"

namespace exa {
namespace {

constexpr std::string_view kPrefix = "exa_pat_";
constexpr std::string_view kDigits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr size_t kTokenDigits = 33;  // 33 × log2(62) = 196 bits
constexpr size_t kCheckDigits = 6;   // 62^6 > 2^32

// OWASP's second choice for Argon2id: 19 MiB, two passes. 64 sign-ins at once stay near 1.2 GiB.
constexpr uint64_t kPasses = 2;
constexpr size_t kMemory = 19 * size_t{1024} * 1024;

void start_sodium() {
  static const int started = sodium_init();
  EXA_ASSERT(started >= 0);
}

std::string random_digits(size_t count) {
  start_sodium();
  std::string text(count, '0');
  for (char& digit : text) digit = kDigits[randombytes_uniform(62)];
  return text;
}

std::string check_digits(std::string_view random) {
  boost::crc_32_type crc;  // as in zlib and PNG
  crc.process_bytes(random.data(), random.size());
  uint32_t rest = crc.checksum();
  std::string text(kCheckDigits, '0');
  for (size_t i = kCheckDigits; i-- > 0; rest /= 62) text[i] = kDigits[rest % 62];
  return text;
}

// What an unknown name is compared with, so that it costs what a known one costs.
const std::string& nobody_s_hash() {
  static const std::string hash = [] {
    const auto made = hash_password(SecretText(random_digits(kTokenDigits)));
    EXA_ASSERT(made);
    return *made;
  }();
  return hash;
}

}  // namespace

SecretText new_token() {
  const std::string random = random_digits(kTokenDigits);
  return SecretText(std::string(kPrefix) + random + check_digits(random));
}

SecretText new_session_id() {
  return SecretText(random_digits(43));
}

SecretText new_setup_code() {
  return SecretText(random_digits(26));
}

bool is_token(std::string_view text) {
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  if (text.size() != kTokenDigits + kCheckDigits) return false;
  if (text.find_first_not_of(kDigits) != std::string_view::npos) return false;
  return check_digits(text.substr(0, kTokenDigits)) == text.substr(kTokenDigits);
}

std::string prefix_of_token(std::string_view token) {
  return std::string(token.substr(0, kPrefix.size() + 4));
}

std::string hash_of_secret(std::string_view secret) {
  return sha256_hex(secret);
}

bool same_text(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> hash_password(const SecretText& password) {
  start_sodium();
  std::array<char, crypto_pwhash_STRBYTES> hash{};
  const std::string_view text = password.reveal();
  if (crypto_pwhash_str_alg(hash.data(), text.data(), text.size(), kPasses, kMemory,
                            crypto_pwhash_ALG_ARGON2ID13) != 0)
    return fail(Code::unexpected, "there is not enough memory to hash a password");
  return std::string(hash.data());
}

bool is_password(const SecretText& password, const std::string& hash) {
  start_sodium();
  const std::string& against = hash.empty() ? nobody_s_hash() : hash;
  if (against.size() >= crypto_pwhash_STRBYTES) return false;
  const std::string_view text = password.reveal();
  const bool same = crypto_pwhash_str_verify(against.c_str(), text.data(), text.size()) == 0;
  return same && !hash.empty();
}

Result<void> check_password(const SecretText& password) {
  const size_t size = password.reveal().size();
  if (size >= 12 && size <= 1024) return {};
  return fail(invalid("password", {{"/password", "is not between 12 and 1024 bytes long", ""}}));
}

}  // namespace exa
