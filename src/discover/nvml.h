// NVML, the library of NVIDIA's driver, loaded when it is there. One JSON text, so that a capture
// keeps what was seen and a reader can read it again:
//   {"driver_version": "550.54.15", "cuda_version": "12.4",
//    "gpus": [{"name", "uuid", "bus_id", "memory_bytes", "mig_mode": "Enabled"|"Disabled"|"N/A",
//              "compute_mode": "Default"|"Prohibited"|…, "error": "GPU is lost",
//              "mig_devices": [{"name", "gpu_instance", "compute_instance", "memory_bytes",
//                               "multiprocessors", "copy_engines", "ofa_engines"}]}]}
// What NVML does not tell is left out.
#pragma once

#include <string>

#include "base/error.h"

namespace exa {

// The functions by name, so that a test can stand in for the driver; nullptr when there is no such
// function.
using NvmlLookup = void* (*)(void* library, const char* name);

// Fails with not_found when the library is not installed, probe_failed when NVML will not start
// (the message carries its return code, which is nvidia-smi's exit code).
Result<std::string> nvml_report();
Result<std::string> nvml_report(void* library, NvmlLookup lookup);

}  // namespace exa
