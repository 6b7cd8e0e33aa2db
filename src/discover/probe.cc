#include "discover/probe.h"

#include <utility>

namespace exa {
namespace {

using ProbeFunction = Result<Capture> (*)(const ClusterAddress&, Transport&, Time);

constexpr std::pair<ClusterKind, ProbeFunction> kProbes[] = {
    {ClusterKind::host, probe_host},
    {ClusterKind::slurm, probe_slurm},
    {ClusterKind::flux, probe_flux},
};

std::unique_ptr<Transport> transport_to(const ClusterAddress& address) {
  if (address.ssh.empty()) return local_transport(address.timeout);
  return ssh_transport({address.ssh, address.ssh_port, address.ssh_identity}, address.timeout);
}

}  // namespace

Result<Capture> probe(const ClusterAddress& address, const Clock& clock) {
  // An API server is asked over HTTPS from here, whatever the transport of the others.
  if (address.kind == ClusterKind::kubernetes) return probe_kubernetes(address, clock());
  if (!address.ssh.empty()) EXA_TRY(check_ssh_destination(address.ssh));
  const std::unique_ptr<Transport> transport = transport_to(address);
  for (const auto& [kind, ask] : kProbes)
    if (kind == address.kind) return ask(address, *transport, clock());
  assertion_failed("every kind has a probe", __FILE__, __LINE__);
}

}  // namespace exa
