#include "compute/ssh_public_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kEd25519 =
    "AAAAC3NzaC1lZDI1NTE5AAAAIC9EoPtHZXnUaoIqTRz4v7h2ztf8Ab/EsahRR0kE/fAR";
constexpr std::string_view kNistp256 =
    "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBDOHrxUvulisNsStxVIjf17ksqZnIoIPhmQ6/5Q1Wy"
    "zC7ofdQdkik3e2QnoNPVWc8YRlMZoOjKOVLmH8CGUzZYk=";

std::string line(std::string_view type, std::string_view blob, std::string_view comment = "") {
  std::string text(type);
  text += ' ';
  text += blob;
  if (!comment.empty()) text += " " + std::string(comment);
  return text;
}

// Made by ssh-keygen of OpenSSH 9.2.
TEST(SshPublicKey, KeysOfOpenSshAreTaken) {
  for (const std::string& key :
       {line("ssh-ed25519", kEd25519), line("ssh-ed25519", kEd25519, "a b c"),
        line("ecdsa-sha2-nistp256", kNistp256, "{{ name }}"), line("ssh-ed25519", kEd25519) + "\n"})
    EXPECT_EQ(judge_ssh_public_key(key), SshKeyVerdict{}) << key;
}

TEST(SshPublicKey, AKeyCutOffWithDotsIsTakenAndTold) {
  for (const std::string_view dots : {"...", "…"}) {
    const SshKeyVerdict verdict = judge_ssh_public_key("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7" +
                                                       std::string(dots) + " user@machine");
    EXPECT_THAT(verdict.problem, IsEmpty());
    EXPECT_EQ(verdict.warning, "is cut off (…): it will open nothing");
  }
}

struct Row {
  std::string key;
  std::string problem;
  std::string suggestion;
};

TEST(SshPublicKey, WhatIsNoKeyIsRefusedWithWhy) {
  const std::string cut(kEd25519.substr(0, 60));
  const std::vector<Row> rows = {
      {"", "begins with no known type of key", "known are ssh-ed25519, ssh-rsa"},
      {"ssh-ed25518 " + std::string(kEd25519), "begins with no known type of key",
       "did you mean ssh-ed25519"},
      {"ssh-dss AAAA", "is of ssh-dss, which OpenSSH takes no more", "make a new key"},
      {"ssh-rsa", "has nothing behind its type", "TYPE BASE64 COMMENT"},
      {"ssh-rsa !!!!", "is no base64 behind its type, or is cut off", ""},
      {line("ssh-rsa", kEd25519), "is a key of ssh-ed25519 with the name of another type", ""},
      {line("ssh-ed25519", cut), "is no whole key of ssh-ed25519", "copy the whole line again"},
      {line("ssh-ed25519", std::string(kEd25519) + "AAAA"), "is no whole key of ssh-ed25519", ""},
      {"ssh-rsa AAAA...", "is cut off before its type can be read", ""},
      {"ssh-rsa ...", "is cut off before its type can be read", ""},
      {"ssh-ed25519 AAAAB3NzaC1yc2EAAAADAQABAAABgQC7...", "is a key of ssh-rsa", ""},
      {"ssh-rsa !!!!...", "is no base64 behind its type", ""},
      {line("ssh-ed25519", kEd25519) + "\nssh-rsa AAAA", "holds a line break",
       "one key is one line"},
      {"command=\"x\" " + line("ssh-ed25519", kEd25519), "begins with no known type of key", ""},
  };
  for (const Row& row : rows) {
    const SshKeyVerdict verdict = judge_ssh_public_key(row.key);
    EXPECT_THAT(verdict.problem, HasSubstr(row.problem)) << row.key;
    EXPECT_THAT(verdict.problem, Not(IsEmpty())) << row.key;
    EXPECT_THAT(verdict.suggestion, HasSubstr(row.suggestion)) << row.key;
  }
}

TEST(SshPublicKey, APrivateKeyIsRefusedAndNeverRepeated) {
  const SshKeyVerdict verdict = judge_ssh_public_key(
      "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n");
  EXPECT_THAT(verdict.problem, HasSubstr("is a private key"));
  EXPECT_THAT(verdict.problem + verdict.suggestion, Not(HasSubstr("c2VjcmV0")));
}

}  // namespace
}  // namespace exa
