// Discovery against a real API server: run by tests/with_kubernetes (make test-kubernetes), which
// starts one with the nodes and pods that testdata/kubernetes was recorded from. What the recorded
// lists mean is settled row by row in src/discover/kubernetes_test.cc; here the same must come out
// of the server itself, over TLS and with each way to say who asks.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "discover/capture.h"
#include "discover/http.h"
#include "discover/probe.h"
#include "discover/readers.h"
#include "hardware/inventory_json.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  EXPECT_TRUE(value) << name << " is not set: run this through tests/with_kubernetes";
  return value ? value : "";
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

ClusterAddress by_kubeconfig(const char* variable) {
  ClusterAddress address;
  address.kind = ClusterKind::kubernetes;
  address.kubeconfig = from_environment(variable);
  return address;
}

ClusterAddress by_client_certificate() {
  ClusterAddress address;
  address.kind = ClusterKind::kubernetes;
  address.server = from_environment("KUBE_TEST_URL");
  address.ca_file = from_environment("KUBE_TEST_CA");
  address.client_cert_file = from_environment("KUBE_TEST_CLIENT_CERT");
  address.client_key_file = from_environment("KUBE_TEST_CLIENT_KEY");
  return address;
}

std::string write(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

Inventory discovered(const ClusterAddress& address) {
  const auto capture = probe_kubernetes(address, Time{});
  EXPECT_TRUE(capture) << capture.error().message;
  if (!capture) return {};
  const auto inventory = read_kubernetes(*capture);
  EXPECT_TRUE(inventory) << inventory.error().message;
  return inventory.value_or(Inventory{});
}

Error failure(const ClusterAddress& address) {
  const auto capture = probe_kubernetes(address, Time{});
  EXPECT_FALSE(capture);
  return capture ? Error{} : capture.error();
}

Inventory recorded() {
  Capture capture;
  capture.kind = ClusterKind::kubernetes;
  for (const auto& [question, file] : {std::pair{"GET /api/v1/nodes", "nodes-apiserver-1.20.json"},
                                       std::pair{"GET /api/v1/pods", "pods-apiserver-1.20.json"}})
    capture.outputs.push_back(
        {question, {}, 0, contents(std::string(EXA_TESTDATA "/kubernetes/") + file), {}});
  const auto inventory = read_kubernetes(capture);
  EXPECT_TRUE(inventory) << inventory.error().message;
  return inventory.value_or(Inventory{});
}

void expect_the_recorded_nodes(const Inventory& live) {
  const Inventory expected = recorded();
  ASSERT_EQ(expected.nodes.size(), 19U);
  ASSERT_EQ(live.nodes.size(), expected.nodes.size());
  for (size_t i = 0; i < expected.nodes.size(); ++i) {
    EXPECT_EQ(to_pretty_text(to_json(live.nodes[i])), to_pretty_text(to_json(expected.nodes[i])));
    EXPECT_EQ(live.nodes[i], expected.nodes[i]);
  }
  EXPECT_THAT(live.unread, IsEmpty());
  EXPECT_EQ(live.tool, "kube-apiserver");
  EXPECT_EQ(live.tool_version, "1.20.2");
}

TEST(KubernetesServer, IsReadRightByTheDiscoveryUserOfAKubeconfig) {
  expect_the_recorded_nodes(discovered(by_kubeconfig("KUBE_TEST_DISCOVERY_KUBECONFIG")));
}

TEST(KubernetesServer, IsReadRightWithAClientCertificate) {
  expect_the_recorded_nodes(discovered(by_client_certificate()));
}

TEST(KubernetesServer, IsReadRightThroughTheKubeconfigOfTheEnvironment) {
  ClusterAddress address;
  address.kind = ClusterKind::kubernetes;
  from_environment("KUBECONFIG");
  expect_the_recorded_nodes(discovered(address));
}

TEST(KubernetesServer, AUserWithoutRightsIsToldWhatIsMissing) {
  const Error error = failure(by_kubeconfig("KUBE_TEST_OUTSIDER_KUBECONFIG"));
  EXPECT_EQ(error.code, Code::probe_failed);
  EXPECT_THAT(error.message, HasSubstr("does not let them list nodes"));
  EXPECT_THAT(error.message, HasSubstr("\"outsider\""));
}

TEST(KubernetesServer, AUserWhoMayListNodesButNotPodsLearnsCapacityNotUse) {
  const Inventory live = discovered(by_kubeconfig("KUBE_TEST_NODES_ONLY_KUBECONFIG"));
  ASSERT_EQ(live.nodes.size(), 19U);
  ASSERT_EQ(live.unread.size(), 1U);
  EXPECT_EQ(live.unread[0].what, "pods");
  EXPECT_THAT(live.unread[0].why, HasSubstr("403 pods is forbidden"));
  for (const Node& node : live.nodes) EXPECT_EQ(node.cpu_free_milli, std::nullopt) << node.name;
}

TEST(KubernetesServer, AWrongTokenIsNamedButNotRepeated) {
  ClusterAddress address = by_client_certificate();
  address.client_cert_file = address.client_key_file = "";
  address.token_file = write("wrong-token", "not-the-right-token\n");
  const Error error = failure(address);
  EXPECT_EQ(error.code, Code::probe_failed);
  EXPECT_THAT(error.message, HasSubstr("token or certificate is wrong or has expired"));
  EXPECT_THAT(error.message, Not(HasSubstr("not-the-right-token")));
}

TEST(KubernetesServer, NoCredentialsAreNamed) {
  ClusterAddress address = by_client_certificate();
  address.client_cert_file = address.client_key_file = "";
  EXPECT_THAT(failure(address).message, HasSubstr("without credentials"));
}

TEST(KubernetesServer, AnUnknownCertificateAuthorityIsNamed) {
  ClusterAddress address = by_client_certificate();
  address.ca_file = "";
  const Error error = failure(address);
  EXPECT_EQ(error.code, Code::probe_failed);
  EXPECT_THAT(error.message, HasSubstr("unknown CA"));
}

TEST(KubernetesServer, ACertificateForAnotherHostIsNamed) {
  HttpRequest request;
  request.url = from_environment("KUBE_TEST_URL") + "/version";
  request.ca.file = from_environment("KUBE_TEST_CA");
  request.tls_server_name = "elsewhere.example";
  const auto reply = http_send(request);
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("another host name"));
  request.tls_server_name = "kubernetes.default.svc";
  EXPECT_TRUE(http_send(request));
}

TEST(KubernetesServer, AServerThatIsNotThereIsUnreachable) {
  ClusterAddress address = by_client_certificate();
  address.server = "https://127.0.0.1:1";
  const Error error = failure(address);
  EXPECT_EQ(error.code, Code::unreachable);
  EXPECT_THAT(error.message, HasSubstr("nothing accepts connections"));
}

TEST(KubernetesServer, PlainHttpWhereTlsIsSpokenIsNamed) {
  ClusterAddress address = by_client_certificate();
  address.server.replace(0, 5, "http");
  const auto capture = probe_kubernetes(address, Time{});
  ASSERT_FALSE(capture);
  EXPECT_THAT(capture.error().message, HasSubstr("400"));
}

// The pages of a list must not lose or repeat nodes; one node per page is the hardest case.
TEST(KubernetesServer, EveryPageOfAListIsAskedFor) {
  HttpRequest request;
  request.ca.file = from_environment("KUBE_TEST_CA");
  request.client_cert.file = from_environment("KUBE_TEST_CLIENT_CERT");
  request.client_key.file = from_environment("KUBE_TEST_CLIENT_KEY");
  HttpClient client;
  Capture capture;
  std::string token;
  do {
    request.url = from_environment("KUBE_TEST_URL") + "/api/v1/nodes?limit=1&continue=" + token;
    const auto reply = client.send(request);
    ASSERT_TRUE(reply) << reply.error().message;
    ASSERT_EQ(reply->status, 200);
    const auto body = parse_json(reply->body, "page", tool_output_limits());
    ASSERT_TRUE(body);
    token = text_or(body->at("metadata"), "continue", "");
    capture.outputs.push_back({capture.outputs.empty() ? "GET /api/v1/nodes"
                                                       : fmt::format("GET /api/v1/nodes page {}",
                                                                     capture.outputs.size() + 1),
                               {},
                               0,
                               reply->body,
                               {}});
  } while (!token.empty());
  EXPECT_EQ(capture.outputs.size(), 19U);
  const auto inventory = read_kubernetes(capture);
  ASSERT_TRUE(inventory) << inventory.error().message;
  EXPECT_EQ(inventory->nodes.size(), 19U);
}

// What `make test` replays is what the server says: with EXA_RECORD=FOLDER the answers are written
// there, for testdata/kubernetes/recorded.
TEST(KubernetesServer, TheCaptureReadsTheSameAfterItWasSaved) {
  for (const auto& [variable, file] :
       {std::pair{"KUBE_TEST_DISCOVERY_KUBECONFIG", "discovery.json"},
        std::pair{"KUBE_TEST_NODES_ONLY_KUBECONFIG", "nodes-only.json"}}) {
    SCOPED_TRACE(file);
    const auto capture = probe_kubernetes(by_kubeconfig(variable), Time{});
    ASSERT_TRUE(capture) << capture.error().message;
    const json::value saved = to_json(*capture);
    if (const char* folder = std::getenv("EXA_RECORD"))
      std::ofstream(std::string(folder) + "/" + file) << to_pretty_text(saved);
    const auto again = capture_from_json(saved);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->outputs, capture->outputs);
    EXPECT_EQ(read_kubernetes(*again).value(), read_kubernetes(*capture).value());
  }
}

}  // namespace
}  // namespace exa
