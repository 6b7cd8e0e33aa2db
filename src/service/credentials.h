// Secrets that are handed out once and kept as hashes: tokens, session ids, setup codes, passwords.
//
// A token is "exa_pat_" + 33 digits of base 62 (192 random bits and more) + 6 digits of the CRC-32
// of those: a scanner or a person who mistyped can tell without asking (the form that GitHub
// chose). All functions are thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "audit/key.h"
#include "base/error.h"

namespace exa {

SecretText new_token();       // "exa_pat_…"
SecretText new_session_id();  // 43 digits of base 62: 256 bits
SecretText new_setup_code();  // 26 digits: 150 bits, typed once by a person

// Prefix, length, digits and checksum. What fails was never a token of exa.
bool is_token(std::string_view text);
// "exa_pat_1a2b": enough to recognise it in a list, and no help to whoever wants to guess.
std::string prefix_of_token(std::string_view token);

std::string hash_of_secret(std::string_view secret);     // SHA-256 in hex: the secret is random
bool same_text(std::string_view a, std::string_view b);  // in a time that depends on lengths only

// Argon2id, salted, in the text form that carries its own parameters.
Result<std::string> hash_password(const SecretText& password);
// With an empty hash it takes as long as with one, and is false.
bool is_password(const SecretText& password, const std::string& hash);
// 12 to 1024 bytes of UTF-8; what is wrong otherwise.
Result<void> check_password(const SecretText& password);

}  // namespace exa
