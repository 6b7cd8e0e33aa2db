// The real API server of tests/with_kubernetes, as the tests of launches use it.
#pragma once

#include <cstdlib>

#include <gtest/gtest.h>

#include "launch/kubernetes_api.h"
#include "launch/kubernetes_driver.h"
#include "launch/manifests_for_test.h"

namespace exa {

inline std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  EXPECT_TRUE(value) << name << " is not set: run this through tests/with_kubernetes";
  return value ? value : "";
}

inline ClusterAddress address() {
  ClusterAddress cluster;
  cluster.kind = ClusterKind::kubernetes;
  cluster.kubeconfig = from_environment("KUBECONFIG");
  return cluster;
}

inline KubernetesDriver driver() {
  return {address(), unwatched()};
}

inline kubernetes::Api api() {
  auto connected = kubernetes::Api::connect(address(), unwatched());
  EXPECT_TRUE(connected) << connected.error().message;
  return std::move(*connected);
}

// The pretended nodes take pods and never run them: they are closed where something has to run.
inline void open_pretended_nodes(bool open) {
  kubernetes::Api server = api();
  const auto nodes = server.list("/api/v1/nodes", "");
  ASSERT_TRUE(nodes) << nodes.error().message;
  for (const json::value& node : *nodes) {
    const std::string name(at(node, "/metadata/name").as_string());
    if (name == "localhost" || name == "cordoned-1") continue;
    const json::value closed = json::object{{"apiVersion", "v1"},
                                            {"kind", "Node"},
                                            {"metadata", json::object{{"name", name}}},
                                            {"spec", json::object{{"unschedulable", !open}}}};
    const auto changed = server.apply("/api/v1/nodes/" + name, closed, kubernetes::Trial::no);
    ASSERT_TRUE(changed) << changed.error().message;
  }
}

inline void make_namespace() {
  const json::value space = json::object{{"apiVersion", "v1"},
                                         {"kind", "Namespace"},
                                         {"metadata", json::object{{"name", "research"}}}};
  const auto made = api().create("/api/v1/namespaces", space, kubernetes::Trial::no);
  ASSERT_TRUE(made || made.error().code == Code::conflict) << made.error().message;
}

// Nobody on a pretended node says that a pod has ended, so it would stay for good.
inline void forget_pods_on_pretended_nodes() {
  kubernetes::Api server = api();
  const auto pods = server.list("/api/v1/pods", "fieldSelector=spec.nodeName%21%3Dlocalhost");
  ASSERT_TRUE(pods) << pods.error().message;
  const auto access = kubernetes_access(address(), kubernetes_environment());
  ASSERT_TRUE(access);
  for (const json::value& pod : *pods) {
    if (!at(pod, "/metadata/deletionTimestamp").is_string()) continue;
    HttpRequest request = request_to(
        *access, fmt::format("/api/v1/namespaces/{}/pods/{}?gracePeriodSeconds=0",
                             std::string_view(at(pod, "/metadata/namespace").as_string()),
                             std::string_view(at(pod, "/metadata/name").as_string())));
    request.method = "DELETE";
    ASSERT_TRUE(http_send(request));
  }
}

}  // namespace exa
