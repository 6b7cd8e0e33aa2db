#include "audit/checkpoint.h"

#include <type_traits>

#include <gmock/gmock.h>

#include "audit/sample_log.h"
#include "base/text.h"

namespace exa {
namespace {

using exa::testing::sample_key;

Checkpoint sample_checkpoint() {
  return {"exa/audit/sample", 20, sha256("root"), Time{1'795'933'561'000'123}};
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXA_ASSERT(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string signature_line(const SigningKey& key, std::string_view signed_text) {
  const Signature signature = key.sign(signed_text);
  const uint32_t id = key_id(key.public_key());
  std::vector<uint8_t> data = {static_cast<uint8_t>(id >> 24), static_cast<uint8_t>(id >> 16),
                               static_cast<uint8_t>(id >> 8), static_cast<uint8_t>(id)};
  data.insert(data.end(), signature.begin(), signature.end());
  return "\xE2\x80\x94 " + key.public_key().name + " " + base64(data) + "\n";
}

TEST(Key, IdIsThatOfTheSignedNoteSpecification) {
  // RFC 8032, section 7.1, test 1 (the key pair); the id follows from the formula of signed notes
  const SigningKey::Seed seed = {0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a,
                                 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32,
                                 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60};
  const SigningKey key = SigningKey::from_seed("rfc8032", seed);
  EXPECT_EQ(hex(key.public_key().bytes),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(hex(key.sign("")),
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39"
            "701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b");
  const std::string named =
      "exa/audit/rfc8032\n\x01" +
      std::string(reinterpret_cast<const char*>(key.public_key().bytes.data()), 32);
  EXPECT_EQ(fmt::format("{:08x}", key_id(key.public_key())), sha256_hex(named).substr(0, 8));
}

TEST(Key, TextsReadBack) {
  const SigningKey key = sample_key();
  EXPECT_EQ(public_key_from_text(to_text(key.public_key())), key.public_key());
  const SecretText secret = key.secret_text();
  const auto back = SigningKey::from_text(secret.reveal().substr(0, secret.reveal().size() - 1));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->sign("m"), key.sign("m"));
}

TEST(Key, AnAlteredPublicKeyTextIsRefused) {
  const std::string text = to_text(sample_key().public_key());
  for (size_t i = 0; i < text.size() * 8; ++i) {
    std::string altered = text;
    altered[i / 8] = static_cast<char>(altered[i / 8] ^ (1 << (i % 8)));
    EXPECT_FALSE(public_key_from_text(altered)) << altered;
  }
}

TEST(Key, TwoGeneratedKeysDiffer) {
  EXPECT_NE(SigningKey::generate("a").public_key(), SigningKey::generate("a").public_key());
}

TEST(Key, ARefusedSecretIsNotQuoted) {
  const SecretText secret = sample_key().secret_text();
  const std::string damaged = std::string(secret.reveal().substr(0, 60));
  const auto key = SigningKey::from_text(damaged);
  ASSERT_FALSE(key);
  EXPECT_THAT(key.error().message, ::testing::Not(::testing::HasSubstr("PRIVATE")));
}

template <typename T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};

TEST(Key, SecretsCannotBePrintedOrCopied) {
  static_assert(!Printable<SigningKey> && !Printable<SecretText>);
  static_assert(!std::is_copy_constructible_v<SigningKey> &&
                !std::is_copy_constructible_v<SecretText>);
  static_assert(!fmt::is_formattable<SigningKey>::value && !fmt::is_formattable<SecretText>::value);
}

TEST(LogId, IsShortAndPlain) {
  for (const std::string_view good : {"a", "0", "prod-eu-1", "-"})
    EXPECT_TRUE(is_log_id(good)) << good;
  EXPECT_TRUE(is_log_id(std::string(63, 'a')));
  EXPECT_FALSE(is_log_id(std::string(64, 'a')));
  for (const std::string_view bad : {"", "A", "a b", "a+b", "a/b", "ä", "a\n"}) {
    EXPECT_FALSE(is_log_id(bad)) << bad;
  }
}

TEST(Checkpoint, HasTheFormOfTheSpecification) {
  EXPECT_EQ(note_text(sample_checkpoint()), "exa/audit/sample\n20\n" + base64(sha256("root")) +
                                                "\ntime 2026-11-29T06:26:01.000123Z\n");
  const std::string text = sign_checkpoint(sample_checkpoint(), sample_key());
  EXPECT_TRUE(
      text.starts_with(note_text(sample_checkpoint()) + "\n\xE2\x80\x94 exa/audit/sample "));
}

TEST(Checkpoint, ReadsBack) {
  const std::string text = sign_checkpoint(sample_checkpoint(), sample_key());
  EXPECT_EQ(parse_checkpoint(text), sample_checkpoint());
  EXPECT_EQ(verify_checkpoint(text, sample_key().public_key()), sample_checkpoint());

  Checkpoint empty_log{"exa/audit/sample", 0, sha256(""), {}};
  EXPECT_EQ(verify_checkpoint(sign_checkpoint(empty_log, sample_key()), sample_key().public_key()),
            empty_log);
}

TEST(Checkpoint, EveryFlippedBitIsSeen) {
  const std::string text = sign_checkpoint(sample_checkpoint(), sample_key());
  const PublicKey key = sample_key().public_key();
  for (size_t i = 0; i < text.size() * 8; ++i) {
    std::string altered = text;
    altered[i / 8] = static_cast<char>(altered[i / 8] ^ (1 << (i % 8)));
    ASSERT_FALSE(check_checkpoint(altered, key)) << "bit " << i;
  }
}

TEST(Checkpoint, EveryCutIsSeen) {
  const std::string text = sign_checkpoint(sample_checkpoint(), sample_key());
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse_checkpoint(text.substr(0, length))) << length;
  }
}

TEST(Checkpoint, SignaturesOfWitnessesAreIgnored) {
  const std::string body = note_text(sample_checkpoint());
  const std::string text = body + "\n" + signature_line(sample_key(9, "witness"), body) +
                           signature_line(sample_key(), body) + signature_line(sample_key(8), body);
  EXPECT_EQ(verify_checkpoint(text, sample_key().public_key()), sample_checkpoint());
}

struct Refused {
  std::string_view what;
  std::string text;
  CheckpointFault fault;
};

std::vector<Refused> refused_checkpoints() {
  const SigningKey key = sample_key();
  const Checkpoint checkpoint = sample_checkpoint();
  const std::string body = note_text(checkpoint);
  const std::string good = sign_checkpoint(checkpoint, key);
  Checkpoint other = checkpoint;
  other.origin = "exa/audit/other";
  const std::string other_body = note_text(other);
  const std::string witness = signature_line(sample_key(9, "witness"), body);
  const auto signed_body = [&](const std::string& text) {
    return text + "\n" + signature_line(key, text);
  };
  std::string many = good;
  for (int i = 0; i < 64; ++i) many += witness;
  return {
      {"another key of the same name", sign_checkpoint(checkpoint, sample_key(8)),
       CheckpointFault::unknown_key},
      {"the same key under another name",
       other_body + "\n" + signature_line(sample_key(7, "other"), other_body),
       CheckpointFault::unknown_key},
      {"only a witness", body + "\n" + witness, CheckpointFault::unknown_key},
      {"another log's, signed by this key", signed_body(other_body), CheckpointFault::other_log},
      {"a larger size", replaced(good, "\n20\n", "\n21\n"), CheckpointFault::bad_signature},
      {"another time", replaced(good, "06:26:01", "06:26:02"), CheckpointFault::bad_signature},
      {"the time left out", replaced(good, "time 2026-11-29T06:26:01.000123Z\n", ""),
       CheckpointFault::bad_signature},
      {"one good and one false signature", good + signature_line(key, "other text"),
       CheckpointFault::bad_signature},
      {"no signature", body + "\n", CheckpointFault::malformed},
      {"no empty line", replaced(good, "\n\n", "\n"), CheckpointFault::malformed},
      {"a size with a leading zero", signed_body(replaced(body, "\n20\n", "\n020\n")),
       CheckpointFault::malformed},
      {"a negative size", signed_body(replaced(body, "\n20\n", "\n-20\n")),
       CheckpointFault::malformed},
      {"a size of 2^63", signed_body(replaced(body, "\n20\n", "\n9223372036854775808\n")),
       CheckpointFault::malformed},
      {"no origin", signed_body(replaced(body, "exa/audit/sample", "")),
       CheckpointFault::malformed},
      {"an unknown line", signed_body(body + "more\n"), CheckpointFault::malformed},
      {"another line in place of the time", signed_body(replaced(body, "time ", "when ")),
       CheckpointFault::malformed},
      {"a short root", signed_body("exa/audit/sample\n20\nAAAA\n"), CheckpointFault::malformed},
      {"a carriage return", signed_body(replaced(body, "\n20\n", "\n20\r\n")),
       CheckpointFault::malformed},
      {"bytes that are not UTF-8", good + "\xE2\x80\x94 \xff AAAAAAAA\n",
       CheckpointFault::malformed},
      {"a hyphen for the dash", replaced(good, "\xE2\x80\x94", "-"), CheckpointFault::malformed},
      {"too many signatures", many, CheckpointFault::malformed},
      {"nothing", "", CheckpointFault::malformed},
  };
}

TEST(Checkpoint, WhatCannotBeTrustedIsRefusedWithItsReason) {
  for (const Refused& refused : refused_checkpoints()) {
    const auto checked = check_checkpoint(refused.text, sample_key().public_key());
    ASSERT_FALSE(checked) << refused.what;
    EXPECT_EQ(checked.error().fault, refused.fault)
        << refused.what << ": " << checked.error().message;
    const auto verified = verify_checkpoint(refused.text, sample_key().public_key());
    ASSERT_FALSE(verified) << refused.what;
    EXPECT_EQ(verified.error().code, Code::audit_broken) << refused.what;
  }
}

}  // namespace
}  // namespace exa
