// Finding the way to an API server, and refusing what would make its answers worthless.
#include "discover/kubeconfig.h"

#include <filesystem>
#include <fstream>
#include <type_traits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "discover/kubeconfig_exec.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

class Kubeconfig : public testing::Test {
 protected:
  Kubeconfig() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / fmt::format("exa-kubeconfig-{}", test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Kubeconfig() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  std::string config(const std::string& name, const std::string& cluster, const std::string& user) {
    return write(name, fmt::format("apiVersion: v1\nkind: Config\ncurrent-context: dev\n"
                                   "clusters:\n- name: c\n  cluster: {}\n"
                                   "users:\n- name: u\n  user: {}\n"
                                   "contexts:\n- name: dev\n  context: {{cluster: c, user: u}}\n"
                                   "- name: other\n  context: {{cluster: missing, user: u}}\n",
                                   cluster, user));
  }

  Result<KubernetesAccess> access(const std::string& file, const std::string& context = {}) {
    ClusterAddress address;
    address.kubeconfig = file;
    address.context = context;
    return kubernetes_access(address, {});
  }

  std::string problem(const std::string& file, const std::string& context = {}) {
    const auto result = access(file, context);
    EXPECT_FALSE(result);
    if (result) return {};
    std::string text = result.error().message;
    for (const Problem& p : result.error().problems) text += " | " + p.where + ": " + p.message;
    return text;
  }

  fs::path folder_;
};

const std::string kServer = "{server: 'https://10.0.0.1:6443'}";

TEST_F(Kubeconfig, PathsAreRelativeToTheirFile) {
  write("sub/token", "  secret-token\n");
  const auto found = access(
      config("sub/config", "{server: 'https://10.0.0.1:6443', certificate-authority: pki/ca.crt}",
             "{tokenFile: token, client-certificate: /abs/cert, client-key: key}"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->server, "https://10.0.0.1:6443");
  EXPECT_EQ(found->ca.file, (folder_ / "sub/pki/ca.crt").string());
  EXPECT_EQ(found->client_cert.file, "/abs/cert");
  EXPECT_EQ(found->client_key.file, (folder_ / "sub/key").string());
  EXPECT_EQ(found->token.reveal(), "secret-token");
  EXPECT_THAT(found->origin, HasSubstr("context dev"));
}

TEST_F(Kubeconfig, InlineDataIsDecodedAndWinsOverFiles) {
  const auto found = access(config(
      "config", "{server: 'https://h', certificate-authority: x, certificate-authority-data: UEVN}",
      "{token: t}"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->ca.data.reveal(), "PEM");
  EXPECT_EQ(found->ca.file, "");
}

TEST_F(Kubeconfig, JsonIsReadAsWell) {
  const auto found = access(write(
      "config.json",
      R"({"kind":"Config","clusters":[{"name":"c","cluster":{"server":"https://h"}}],)"
      R"("users":[],"contexts":[{"name":"x","context":{"cluster":"c"}}],"current-context":"x"})"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->server, "https://h");
}

TEST_F(Kubeconfig, OfSeveralFilesTheFirstThatDefinesANameWins) {
  const std::string first = config("first", kServer, "{token: one}");
  const std::string second = config("second", "{server: 'https://second'}", "{token: two}");
  KubernetesEnvironment environment;
  environment.kubeconfig = (folder_ / "absent").string() + ":" + first + ":" + second;
  const auto found = kubernetes_access({}, environment);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->server, "https://10.0.0.1:6443");
  EXPECT_EQ(found->token.reveal(), "one");
}

TEST_F(Kubeconfig, TheHomeFolderThenTheServiceAccountAreTried) {
  KubernetesEnvironment environment;
  environment.home = folder_.string();
  environment.service_host = "10.96.0.1";
  environment.service_port = "443";
  environment.service_account = folder_.string();
  write("token", "pod-token");
  const auto pod = kubernetes_access({}, environment);
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->server, "https://10.96.0.1:443");
  EXPECT_EQ(pod->token.reveal(), "pod-token");
  EXPECT_EQ(pod->ca.file, folder_.string() + "/ca.crt");
  config(".kube/config", kServer, "{token: home}");
  const auto home = kubernetes_access({}, environment);
  ASSERT_TRUE(home) << home.error().message;
  EXPECT_EQ(home->token.reveal(), "home");
}

TEST_F(Kubeconfig, NothingToGoByIsNotFound) {
  const auto nothing = kubernetes_access({}, {});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, Code::not_found);
}

TEST_F(Kubeconfig, WhatCannotBeTrustedOrUsedIsRefusedByName) {
  struct Case {
    std::string cluster, user, part;
  };
  const std::vector<Case> cases = {
      {"{server: 'https://h', insecure-skip-tls-verify: true}", "{token: t}",
       "insecure-skip-tls-verify"},
      {"{}", "{token: t}", "no server"},
      {kServer, "{username: a, password: hunter2}", "passwords"},
      {kServer, "{auth-provider: {name: gcp}}", "exec plugin"},
      {kServer, "{client-certificate: a}", "only useful together"},
      {kServer, "{client-key-data: '###', client-certificate: a}", "client-key-data"},
      {kServer, "{tokenFile: nowhere}", "nowhere"},
      {kServer, "{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}",
       "v1alpha1"},
      {kServer, "{exec: {apiVersion: client.authentication.k8s.io/v1}}", "no command"},
  };
  for (const Case& test : cases) {
    const std::string said = problem(config("config", test.cluster, test.user));
    EXPECT_THAT(said, HasSubstr(test.part));
    EXPECT_THAT(said, Not(HasSubstr("hunter2")));
  }
}

TEST_F(Kubeconfig, AnUnknownContextNamesTheOnesThereAre) {
  const std::string file = config("config", kServer, "{token: t}");
  EXPECT_THAT(problem(file, "devv"), HasSubstr("no context \"devv\""));
  EXPECT_THAT(problem(file, "devv"), HasSubstr("dev"));
  EXPECT_THAT(problem(file, "other"), HasSubstr("no cluster \"missing\""));
  EXPECT_EQ(access(file, "devv").error().alternatives, (std::vector<std::string>{"dev", "other"}));
}

TEST_F(Kubeconfig, AFileThatIsNoKubeconfigIsRefused) {
  EXPECT_THAT(problem(write("a", "- 1\n- 2\n")), HasSubstr("an object is expected"));
  EXPECT_THAT(problem(write("b", "kind: Pod\n")), HasSubstr("\"Pod\" is no kubeconfig"));
  EXPECT_THAT(problem(write("c", "kind: Config\nclusters: 3\n")), HasSubstr("a list is expected"));
  EXPECT_THAT(problem((folder_ / "absent").string()), HasSubstr("cannot be read"));
}

// ---- exec plugins -----------------------------------------------------------------------------

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";

TEST(ExecCredential, GivesATokenOrACertificate) {
  const auto token = parse_exec_credential(
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"abc"}})",
      kV1, "p");
  ASSERT_TRUE(token) << token.error().message;
  EXPECT_EQ(token->token.reveal(), "abc");
  const auto pair = parse_exec_credential(
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
      R"("status":{"clientCertificateData":"C","clientKeyData":"K"}})",
      kV1, "p");
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_EQ(pair->client_key.data.reveal(), "K");
}

TEST(ExecCredential, OtherAnswersAreRefusedWithoutRepeatingThem) {
  for (
      const char* answer :
      {"s3cret", "[]", R"({"kind":"Pod","token":"s3cret"})",
       R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"s3cret"}})",
       R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})",
       R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{}})",
       R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientKeyData":"s3cret"}})"}) {
    const auto credential = parse_exec_credential(answer, kV1, "plugin");
    ASSERT_FALSE(credential) << answer;
    EXPECT_EQ(credential.error().code, Code::probe_failed);
    EXPECT_THAT(credential.error().message, HasSubstr("plugin"));
    EXPECT_THAT(credential.error().message, Not(HasSubstr("s3cret")));
  }
}

// The plugin is a real program: a script that answers with what it was told.
TEST_F(Kubeconfig, AnExecPluginIsRunWithItsArgumentsAndTold) {
  const std::string plugin = write(
      "plugin",
      "#!/bin/sh\ncase $KUBERNETES_EXEC_INFO in *ExecCredential*) ;; *) exit 7 ;; esac\n"
      "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":"
      "\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"%s-%s\"}}' \"$1\" \"$EXTRA\"\n");
  fs::permissions(plugin, fs::perms::owner_all);
  const auto found = access(config(
      "config", kServer,
      "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, args: ['a b; c'], "
      "env: [{name: EXTRA, value: x}]}}"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->token.reveal(), "a b; c-x");
}

TEST_F(Kubeconfig, AnExecPluginThatFailsIsQuotedByItsErrorOutputOnly) {
  const std::string plugin =
      write("plugin", "#!/bin/sh\necho s3cret\necho 'login first' >&2\nexit 3\n");
  fs::permissions(plugin, fs::perms::owner_all);
  const std::string said =
      problem(config("config", kServer,
                     "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin}}"));
  EXPECT_THAT(said, HasSubstr("status 3: login first"));
  EXPECT_THAT(said, Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace exa
