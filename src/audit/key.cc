#include "audit/key.h"

#include <charconv>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "audit/digest.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr std::string_view kOriginPrefix = "exa/audit/";
constexpr std::string_view kSecretPrefix = "PRIVATE+KEY+";
constexpr uint8_t kEd25519 = 0x01;  // the signature type byte of C2SP signed notes

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using OpenSslKey = std::unique_ptr<EVP_PKEY, FreeKey>;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using OpenSslContext = std::unique_ptr<EVP_MD_CTX, FreeContext>;

const uint8_t* bytes_in(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

OpenSslKey private_key(const SigningKey::Seed& seed) {
  OpenSslKey key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
  EXA_ASSERT(key != nullptr);
  return key;
}

// What the texts of both halves have in common: NAME+ID+BASE64(0x01 || 32 bytes).
struct KeyText {
  std::string_view name;
  uint32_t id = 0;
  std::array<uint8_t, 32> bytes{};
};

std::optional<uint32_t> id_from_hex(std::string_view text) {
  if (text.size() != 8 || text.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return std::nullopt;
  }
  uint32_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return id;
}

std::optional<KeyText> read_key_text(std::string_view text) {
  const size_t name_end = text.find('+');
  if (name_end == std::string_view::npos) return std::nullopt;
  const size_t id_end = text.find('+', name_end + 1);
  if (id_end == std::string_view::npos) return std::nullopt;
  KeyText key;
  key.name = text.substr(0, name_end);
  if (!key.name.starts_with(kOriginPrefix) || !is_log_id(key.name.substr(kOriginPrefix.size()))) {
    return std::nullopt;
  }
  const auto id = id_from_hex(text.substr(name_end + 1, id_end - name_end - 1));
  std::vector<uint8_t> data;
  data.reserve(64);  // once: growing would leave copies of a secret behind
  const bool decoded = text.size() < 512 && decode_base64(text.substr(id_end + 1), data);
  const bool well_formed =
      decoded && id && data.size() == 1 + key.bytes.size() && data[0] == kEd25519;
  if (well_formed) {
    key.id = *id;
    std::copy(data.begin() + 1, data.end(), key.bytes.begin());
  }
  OPENSSL_cleanse(data.data(), data.size());
  return well_formed ? std::optional(key) : std::nullopt;
}

std::string key_text(const PublicKey& named, std::span<const uint8_t, 32> bytes) {
  std::array<uint8_t, 33> typed{kEd25519};
  std::ranges::copy(bytes, typed.begin() + 1);
  std::string encoded = base64(typed);
  OPENSSL_cleanse(typed.data(), typed.size());
  std::string text = fmt::format("{}+{:08x}+{}", named.name, key_id(named), encoded);
  OPENSSL_cleanse(encoded.data(), encoded.size());
  return text;
}

}  // namespace

bool is_log_id(std::string_view text) {
  return !text.empty() && text.size() <= 63 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

std::string origin_of(std::string_view log_id) {
  EXA_ASSERT(is_log_id(log_id));
  return fmt::format("{}{}", kOriginPrefix, log_id);
}

uint32_t key_id(const PublicKey& key) {
  const char type[] = {'\n', static_cast<char>(kEd25519)};
  const std::string_view bytes(reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size());
  const Hash hash = sha256({key.name, std::string_view(type, sizeof(type)), bytes});
  return (uint32_t{hash[0]} << 24) | (uint32_t{hash[1]} << 16) | (uint32_t{hash[2]} << 8) | hash[3];
}

std::string to_text(const PublicKey& key) {
  return key_text(key, key.bytes);
}

Result<PublicKey> public_key_from_text(std::string_view text) {
  const auto read = read_key_text(text);
  if (!read) {
    return fail(Code::invalid_input,
                "this is not an audit public key (exa/audit/ID+8 hex digits+base64)");
  }
  PublicKey key{std::string(read->name), read->bytes};
  if (key_id(key) != read->id) {
    return fail(Code::invalid_input,
                fmt::format("the public key of {} does not fit its id {:08x}", key.name, read->id));
  }
  return key;
}

bool verify_signature(const PublicKey& key, std::string_view message,
                      std::span<const uint8_t> signature) {
  const OpenSslKey with(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size()));
  const OpenSslContext context(EVP_MD_CTX_new());
  return with != nullptr && context != nullptr && signature.size() == Signature{}.size() &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, with.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(), bytes_in(message),
                          message.size()) == 1;
}

SecretText::SecretText(std::string text) : text_(std::make_unique<std::string>(std::move(text))) {
  OPENSSL_cleanse(text.data(), text.capacity());  // a short text was copied, not moved
}

SecretText::~SecretText() {
  if (text_ != nullptr) OPENSSL_cleanse(text_->data(), text_->capacity());
}

SecretText::SecretText(SecretText&&) noexcept = default;

SecretText& SecretText::operator=(SecretText&& other) noexcept {
  std::swap(text_, other.text_);
  return *this;
}

std::string_view SecretText::reveal() const {
  return text_ == nullptr ? std::string_view() : std::string_view(*text_);
}

SigningKey::SigningKey(std::string name, std::unique_ptr<Seed> seed) : seed_(std::move(seed)) {
  public_.name = std::move(name);
  size_t length = public_.bytes.size();
  const OpenSslKey key = private_key(*seed_);
  EXA_ASSERT(EVP_PKEY_get_raw_public_key(key.get(), public_.bytes.data(), &length) == 1);
  EXA_ASSERT(length == public_.bytes.size());
}

SigningKey::~SigningKey() {
  if (seed_ != nullptr) OPENSSL_cleanse(seed_->data(), seed_->size());
}

SigningKey::SigningKey(SigningKey&&) noexcept = default;

SigningKey& SigningKey::operator=(SigningKey&& other) noexcept {
  std::swap(public_, other.public_);
  std::swap(seed_, other.seed_);
  return *this;
}

SigningKey SigningKey::generate(std::string_view log_id) {
  auto seed = std::make_unique<Seed>();
  EXA_ASSERT(RAND_priv_bytes(seed->data(), static_cast<int>(seed->size())) == 1);
  return SigningKey(origin_of(log_id), std::move(seed));
}

SigningKey SigningKey::from_seed(std::string_view log_id, Seed seed) {
  SigningKey key(origin_of(log_id), std::make_unique<Seed>(seed));
  OPENSSL_cleanse(seed.data(), seed.size());
  return key;
}

Result<SigningKey> SigningKey::from_text(std::string_view secret) {
  // no message here may quote the text
  const auto refuse = [] { return fail(Code::store_damaged, "this is not an audit signing key"); };
  if (!secret.starts_with(kSecretPrefix)) return refuse();
  auto read = read_key_text(secret.substr(kSecretPrefix.size()));
  if (!read) return refuse();
  SigningKey key(std::string(read->name), std::make_unique<Seed>(read->bytes));
  OPENSSL_cleanse(read->bytes.data(), read->bytes.size());
  if (key_id(key.public_) != read->id) return refuse();
  return key;
}

Signature SigningKey::sign(std::string_view message) const {
  const OpenSslKey key = private_key(*seed_);
  const OpenSslContext context(EVP_MD_CTX_new());
  Signature signature{};
  size_t length = signature.size();
  EXA_ASSERT(context != nullptr);
  EXA_ASSERT(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  EXA_ASSERT(EVP_DigestSign(context.get(), signature.data(), &length, bytes_in(message),
                            message.size()) == 1);
  EXA_ASSERT(length == signature.size());
  return signature;
}

SecretText SigningKey::secret_text() const {
  std::string text = key_text(public_, *seed_);
  std::string whole;
  whole.reserve(kSecretPrefix.size() + text.size() + 1);
  whole.append(kSecretPrefix).append(text).append("\n");
  OPENSSL_cleanse(text.data(), text.size());
  return SecretText(std::move(whole));
}

}  // namespace exa
