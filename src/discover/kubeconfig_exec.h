// Exec plugins of kubeconfig users (client.authentication.k8s.io/v1 and v1beta1): a program that
// prints an ExecCredential.
#pragma once

#include <string>

#include "base/json.h"
#include "discover/http.h"

namespace exa {

struct ExecCredential {
  Secret token;
  Pem client_cert;
  Pem client_key;
};

// Runs `exec` (a user's exec section in kubeconfig `file`) with its argument vector, no shell and
// no terminal. `cluster` is the cluster's section, told to the plugin when provideClusterInfo is
// set. Fails with invalid_input (the section), probe_failed (the program, its answer); its standard
// error is repeated, its standard output never.
Result<ExecCredential> run_exec_plugin(const json::value& exec, const std::string& file,
                                       const json::value& cluster, const std::string& server);

// The answer of a plugin.
Result<ExecCredential> parse_exec_credential(std::string_view text, std::string_view api_version,
                                             std::string_view plugin);

}  // namespace exa
