#include "discover/readers.h"

#include "discover/plausible.h"

namespace exa {
namespace {

constexpr Reader kReaders[] = {
    {ClusterKind::host, read_host, recognise_host,
     "nvidia-smi (its table, -L, -q, -q -x, --query-gpu), rocm-smi --json, amd-smi static --json, "
     "hl-smi, lspci -nn, PCI ids of /sys"},
    {ClusterKind::slurm, read_slurm, recognise_slurm,
     "scontrol show node (text or --json), sinfo -N, sinfo --json, slurmrestd nodes"},
    {ClusterKind::flux, read_flux, recognise_flux, "Flux R (JSON), flux resource list"},
    {ClusterKind::kubernetes, read_kubernetes, recognise_kubernetes,
     "kubectl get nodes -o json, kubectl get nodes,pods -A -o json"},
};

}  // namespace

std::span<const Reader> readers() {
  return kReaders;
}

Result<Inventory> read_capture(const Capture& capture) {
  for (const Reader& reader : kReaders)
    if (reader.kind == capture.kind) {
      EXA_ASSIGN(Inventory inventory, reader.read(capture));
      EXA_TRY(check_plausible(inventory));
      return inventory;
    }
  assertion_failed("every kind has a reader", __FILE__, __LINE__);
}

Result<Capture> capture_from_file(std::string_view text, std::string_view file,
                                  std::optional<ClusterKind> kind, Time taken_at) {
  return capture_from_file(text, file, kind, taken_at, kReaders);
}

}  // namespace exa
