// How to reach an API server: kubeconfig files (YAML or JSON), files named one by one, or the
// service account of the pod that exa runs in.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "discover/http.h"
#include "discover/probe.h"

namespace exa {

struct KubernetesAccess {
  std::string server;  // https://host:port, no final slash
  Pem ca;              // empty: the system's authorities
  std::string tls_server_name;
  std::string proxy;
  Secret token;
  Pem client_cert;
  Pem client_key;
  std::vector<std::pair<std::string, std::string>> headers;  // impersonation
  std::string origin;  // "context test of /root/.kube/config", "service account of this pod"
};

// What the environment says; passed in so that tests need not change it.
struct KubernetesEnvironment {
  std::string kubeconfig;    // $KUBECONFIG: files separated by ':'
  std::string home;          // $HOME
  std::string service_host;  // $KUBERNETES_SERVICE_HOST
  std::string service_port;  // $KUBERNETES_SERVICE_PORT
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};
KubernetesEnvironment kubernetes_environment();

// The first that applies: address.server with its files; address.kubeconfig; $KUBECONFIG;
// ~/.kube/config; the pod's service account.
//
// As kubectl: of several files the first that defines a name wins, relative paths are relative to
// their file, token files and exec plugins are read anew at each call. Unlike kubectl:
// insecure-skip-tls-verify, passwords and the removed auth-provider plugins are refused, because
// what such a server says could come from anybody.
//
// Fails with not_found (no file, no such context), invalid_input (a file that breaks a rule, with
// file and place), probe_failed (an exec plugin that fails). No message holds a secret.
Result<KubernetesAccess> kubernetes_access(const ClusterAddress& address,
                                           const KubernetesEnvironment& environment);

}  // namespace exa
