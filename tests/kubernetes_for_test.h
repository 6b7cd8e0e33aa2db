// The real API server of tests/with_kubernetes, as the tests of launches use it.
#pragma once

#include <chrono>
#include <cstdlib>
#include <thread>

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

inline LaunchSpec small(std::string name, std::vector<std::string> command) {
  LaunchSpec spec;
  spec.kind = Surface::training;
  spec.project = "vision";
  spec.name = std::move(name);
  spec.id = spec.name + "-1";
  spec.resources.cpu_milli = 10;
  spec.command.assign(command.begin(), command.end());
  spec.image = from_environment("KUBE_TEST_IMAGE");
  return spec;
}

// One submission that ends with the test.
class Launched {
 public:
  explicit Launched(LaunchSpec spec) : spec_(std::move(spec)) {
    const auto rendered = driver().render(spec_);
    EXPECT_TRUE(rendered) << rendered.error().message;
    if (!rendered) return;
    const auto job = driver().submit(spec_, *rendered);
    EXPECT_TRUE(job) << job.error().message;
    job_ = job.value_or("");
  }
  Launched(const Launched&) = delete;
  ~Launched() {
    EXPECT_TRUE(driver().cancel(spec_, job_));
    forget_pods_on_pretended_nodes();
  }

  const std::string& job() const { return job_; }

  Observed look() const {
    const auto seen = driver().find(spec_, "");
    EXPECT_TRUE(seen) << seen.error().message;
    EXPECT_TRUE(seen && seen->has_value()) << job_ << " is not found";
    return seen && *seen ? **seen : Observed{};
  }

  // Looks until `enough` says so, for a minute.
  template <typename Predicate>
  Observed wait(Predicate enough) const {
    Observed seen;
    for (int tries = 0; tries < 120; ++tries) {
      seen = look();
      if (enough(seen)) return seen;
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    ADD_FAILURE() << job_ << " is " << static_cast<int>(seen.state) << ": " << seen.reason;
    return seen;
  }
  Observed wait_for(JobState state) const {
    return wait([&](const Observed& seen) { return seen.state == state; });
  }

  std::string logs(int64_t lines = 1000) const {
    const auto text = driver().logs(spec_, job_, lines);
    EXPECT_TRUE(text || text.error().code == Code::not_found) << text.error().message;
    return text.value_or("");
  }

  Result<std::string> outputs() const { return driver().outputs(spec_, job_); }

 private:
  LaunchSpec spec_;
  std::string job_;
};

}  // namespace exa
