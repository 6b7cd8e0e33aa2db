#include "oidc/pending.h"

#include <sodium.h>

#include "audit/digest.h"
#include "base/encoding.h"
#include "base/json.h"
#include "oidc/proof.h"

namespace exa {
namespace {

constexpr size_t kNonce = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr size_t kTag = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr size_t kLongest = 4096;

unsigned char* bytes_in(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}
const unsigned char* bytes_in(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

PendingSeal::PendingSeal(std::string_view client_secret, std::string_view issuer,
                         std::string_view client_id) {
  static_assert(crypto_pwhash_SALTBYTES <= sizeof(Hash));
  static_assert(crypto_aead_xchacha20poly1305_ietf_KEYBYTES == sizeof(key_));
  EXA_ASSERT(sodium_init() >= 0);
  const Hash salt = sha256({"pending-sign-in.v1\n", issuer, "\n", client_id});
  const int made =
      crypto_pwhash(key_.data(), key_.size(), client_secret.data(), client_secret.size(),
                    salt.data(), crypto_pwhash_OPSLIMIT_INTERACTIVE,
                    crypto_pwhash_MEMLIMIT_INTERACTIVE, crypto_pwhash_ALG_ARGON2ID13);
  EXA_ASSERT(made == 0);  // 64 MiB were not to be had
}

PendingSeal::~PendingSeal() {
  sodium_memzero(key_.data(), key_.size());
}

std::string PendingSeal::seal(const PendingSignIn& pending) const {
  const std::string text = to_text(json::object{{"state", pending.state},
                                                {"nonce", pending.nonce},
                                                {"verifier", pending.verifier},
                                                {"next", pending.next},
                                                {"until", pending.until.micros}});
  std::string sealed(kNonce + text.size() + kTag, '\0');
  randombytes_buf(sealed.data(), kNonce);
  crypto_aead_xchacha20poly1305_ietf_encrypt(bytes_in(sealed) + kNonce, nullptr, bytes_in(text),
                                             text.size(), nullptr, 0, nullptr, bytes_in(sealed),
                                             key_.data());
  return base64url(sealed);
}

std::optional<PendingSignIn> PendingSeal::open(std::string_view sealed, Time now) const {
  if (sealed.size() > kLongest) return std::nullopt;
  const auto bytes = decode_base64url(sealed);
  if (!bytes || bytes->size() < kNonce + kTag) return std::nullopt;
  const std::string_view rest = std::string_view(*bytes).substr(kNonce);
  std::string text(rest.size() - kTag, '\0');
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(bytes_in(text), nullptr, nullptr, bytes_in(rest),
                                                 rest.size(), nullptr, 0, bytes_in(*bytes),
                                                 key_.data()) != 0)
    return std::nullopt;
  const auto value = parse_json(text, "pending sign-in");
  EXA_ASSERT(value && value->is_object());  // sealed by seal()
  PendingSignIn pending;
  pending.state = text_or(*value, "state", "");
  pending.nonce = text_or(*value, "nonce", "");
  pending.verifier = text_or(*value, "verifier", "");
  pending.next = text_or(*value, "next", "");
  pending.until = Time{value->at("until").to_number<int64_t>()};
  if (pending.until <= now) return std::nullopt;
  return pending;
}

}  // namespace exa
