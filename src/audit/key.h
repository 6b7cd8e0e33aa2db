// The log's Ed25519 key pair in the text forms of C2SP signed notes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace exa {

using Signature = std::array<uint8_t, 64>;

// A log id is 1 to 63 of a-z, 0-9 and '-'; the origin "exa/audit/ID" is also the name of its key.
bool is_log_id(std::string_view text);
std::string origin_of(std::string_view log_id);

struct PublicKey {
  std::string name;
  std::array<uint8_t, 32> bytes{};

  bool operator==(const PublicKey&) const = default;
};

uint32_t key_id(const PublicKey& key);
std::string to_text(const PublicKey& key);  // "NAME+1a2b3c4d+BASE64", one line without its end
Result<PublicKey> public_key_from_text(std::string_view text);  // invalid_input
bool verify_signature(const PublicKey& key, std::string_view message,
                      std::span<const uint8_t> signature);

// Text that is wiped when it goes out of scope. It has no stream operator and no formatter, so that
// it cannot reach a log by mistake.
class SecretText {
 public:
  SecretText() = default;
  explicit SecretText(std::string text);
  ~SecretText();
  SecretText(SecretText&&) noexcept;
  SecretText& operator=(SecretText&&) noexcept;
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;

  std::string_view reveal() const;

 private:
  std::unique_ptr<std::string> text_;  // on the heap: moving leaves no copy behind
};

// The secret half; wiped when it goes out of scope, never printed.
class SigningKey {
 public:
  using Seed = std::array<uint8_t, 32>;

  static SigningKey generate(std::string_view log_id);  // from the system's random source
  static SigningKey from_seed(std::string_view log_id, Seed seed);
  static Result<SigningKey> from_text(std::string_view secret);  // "PRIVATE+KEY+NAME+ID+BASE64"

  ~SigningKey();
  SigningKey(SigningKey&&) noexcept;
  SigningKey& operator=(SigningKey&&) noexcept;
  SigningKey(const SigningKey&) = delete;
  SigningKey& operator=(const SigningKey&) = delete;

  const PublicKey& public_key() const { return public_; }
  Signature sign(std::string_view message) const;
  SecretText secret_text() const;

 private:
  SigningKey(std::string name, std::unique_ptr<Seed> seed);

  PublicKey public_;
  std::unique_ptr<Seed> seed_;
};

}  // namespace exa
