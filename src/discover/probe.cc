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

std::unique_ptr<Transport> transport_to(const ClusterAddress& address, const Progress& progress) {
  const Unwanted unwanted = [&progress] { return progress.cancelled(); };
  if (address.ssh.empty()) return local_transport(address.timeout, unwanted);
  return ssh_transport({address.ssh, address.ssh_port, address.ssh_identity}, address.timeout,
                       unwanted);
}

// Counts the questions that go through it, and asks no more once nobody wants the answer.
class CountedTransport final : public Transport {
 public:
  CountedTransport(Transport& transport, Progress& progress)
      : transport_(transport), progress_(progress) {}

  Result<Finished> run(const std::vector<std::string>& argv) override {
    EXA_TRY(next());
    return transport_.run(argv);
  }
  Result<std::string> read_file(const std::string& path) override {
    EXA_TRY(next());
    return transport_.read_file(path);
  }
  Result<std::vector<std::string>> list_folder(const std::string& path) override {
    EXA_TRY(next());
    return transport_.list_folder(path);
  }
  std::string describe() const override { return transport_.describe(); }
  Progress& progress() override { return progress_; }
  int64_t asked() const { return asked_; }

 private:
  Result<void> next() { return progress_.step("questions", asked_++, 0); }

  Transport& transport_;
  Progress& progress_;
  int64_t asked_ = 0;
};

}  // namespace

Result<Capture> probe(const ClusterAddress& address, const Clock& clock, Progress& progress) {
  // An API server is asked over HTTPS from here, whatever the transport of the others.
  if (address.kind == ClusterKind::kubernetes) return probe_kubernetes(address, clock(), progress);
  if (!address.ssh.empty()) EXA_TRY(check_ssh_destination(address.ssh));
  const std::unique_ptr<Transport> transport = transport_to(address, progress);
  CountedTransport counted(*transport, progress);
  for (const auto& [kind, ask] : kProbes)
    if (kind == address.kind) {
      Result<Capture> capture = ask(address, counted, clock());
      // a probe goes on without what it could not read; nobody wants such an answer then
      if (progress.cancelled()) EXA_TRY(progress.step("questions", counted.asked(), 0));
      return capture;
    }
  assertion_failed("every kind has a probe", __FILE__, __LINE__);
}

}  // namespace exa
