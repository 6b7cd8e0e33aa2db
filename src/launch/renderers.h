// From a launch to what a target reads: one file each. Pure functions; what a target has no word
// for is refused by name (invalid_input), or noted in Rendered::notes where it only gets less.
// `spec` has no problems (problems_of of its command and environment).
#pragma once

#include "launch/launch_spec.h"

namespace exa {

// The batch script (slurm_script.cc): `sbatch --parsable` of "job.sbatch". One task on every node;
// GPUs as --gres, of the cluster's own type where SchedulerOptions::device says it; MIG as a GRES
// type; a share of one card as shards where their number is known; the head node out of
// SLURM_JOB_NODELIST. Whoever submits it keeps SBATCH_* out of sbatch's environment: those win over
// the script's lines. The folder must be there, on every node.
Result<Rendered> render_slurm(const LaunchSpec& spec);
// flux_script.cc: `flux batch` of "job.flux"; a device is a property of its nodes.
Result<Rendered> render_flux(const LaunchSpec& spec);
// On one machine, without a scheduler (local_script.cc): the argument vector itself, to be run with
// Rendered::environment in Rendered::folder. Nothing is set aside, so no visible devices are set.
Result<Rendered> render_local(const LaunchSpec& spec);
// kubernetes_manifest.cc: "manifest.yaml", `kubectl apply`. Workbench: Pod, PersistentVolumeClaim,
// Service; training: an indexed Job and a headless Service for its head; serving: Deployment and
// Service.
Result<Rendered> render_kubernetes(const LaunchSpec& spec);
// kserve.cc: "inference-service.yaml", `kubectl apply`. `spec` is of serving and has a kserve.
Result<Rendered> render_kserve(const LaunchSpec& spec);
// compose_file.cc: "compose.yaml", `docker-compose up`; devices as reservations.
Result<Rendered> render_compose(const LaunchSpec& spec);

}  // namespace exa
