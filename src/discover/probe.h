// Probes: run what a source needs and keep its outputs as a capture. The edge beside the readers.
#pragma once

#include <string>

#include "base/error.h"
#include "base/progress.h"
#include "base/time.h"
#include "discover/capture.h"
#include "discover/transport.h"

namespace exa {

// Where a cluster is and how it is asked; what `exa cluster add` stores (paths to secrets, never
// secrets).
struct ClusterAddress {
  ClusterKind kind = ClusterKind::host;
  std::string ssh;  // [user@]host; empty: this machine
  int ssh_port = 0;
  std::string ssh_identity;
  std::string kubeconfig;  // empty: $KUBECONFIG, ~/.kube/config
  std::string context;     // empty: the kubeconfig's current context
  std::string server;      // https://…: an API server named directly, instead of a kubeconfig
  std::string ca_file;
  std::string token_file;
  std::string client_cert_file;
  std::string client_key_file;
  std::string slurmrestd;  // unix:/path or http(s)://host:port; empty: scontrol and sinfo
  Duration timeout = seconds(30);
};

// How probes and drivers reach what is not asked over HTTP; `progress` outlives it.
std::unique_ptr<Transport> transport_to(const ClusterAddress& address, const Progress& progress);

// Reports each question before it is asked; interrupted once `progress` is cancelled.
Result<Capture> probe(const ClusterAddress& address, const Clock& clock,
                      Progress& progress = unwatched());

Result<Capture> probe_slurm(const ClusterAddress& address, Transport& transport, Time now);
Result<Capture> probe_flux(const ClusterAddress& address, Transport& transport, Time now);
Result<Capture> probe_host(const ClusterAddress& address, Transport& transport, Time now);
Result<Capture> probe_kubernetes(const ClusterAddress& address, Time now,
                                 Progress& progress = unwatched());

}  // namespace exa
