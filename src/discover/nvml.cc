#include "discover/nvml.h"

#include <array>
#include <cstdint>

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/json.h"

namespace exa {
namespace {

// The parts of NVML's binary interface that are used here (its versioned names never change).
using Device = void*;
using Status = int;
enum : Status { kSuccess = 0, kGpuIsLost = 15 };
constexpr unsigned kMaxGpus = 4096;

struct Memory {
  unsigned long long total, free, used;
};
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct Attributes {
  unsigned multiprocessors, copy_engines, decoders, encoders, jpeg_engines, ofa_engines;
  unsigned gpu_instance_slices, compute_instance_slices;
  unsigned long long memory_mib;
};

struct Nvml {
  Status (*init)();
  Status (*shutdown)();
  Status (*driver_version)(char*, unsigned);
  Status (*cuda_version)(int*);
  Status (*count)(unsigned*);
  Status (*by_index)(unsigned, Device*);
  Status (*name)(Device, char*, unsigned);
  Status (*uuid)(Device, char*, unsigned);
  Status (*pci)(Device, PciInfo*);
  Status (*memory)(Device, Memory*);
  Status (*compute_mode)(Device, unsigned*);
  Status (*mig_mode)(Device, unsigned*, unsigned*);
  Status (*max_mig_devices)(Device, unsigned*);
  Status (*mig_device)(Device, unsigned, Device*);
  Status (*gpu_instance)(Device, unsigned*);
  Status (*compute_instance)(Device, unsigned*);
  Status (*attributes)(Device, Attributes*);
};

template <typename Function>
void bind(Function& function, void* library, NvmlLookup lookup, const char* name) {
  function = reinterpret_cast<Function>(lookup(library, name));
}

Nvml bind_all(void* library, NvmlLookup lookup) {
  Nvml nvml{};
  bind(nvml.init, library, lookup, "nvmlInit_v2");
  bind(nvml.shutdown, library, lookup, "nvmlShutdown");
  bind(nvml.driver_version, library, lookup, "nvmlSystemGetDriverVersion");
  bind(nvml.cuda_version, library, lookup, "nvmlSystemGetCudaDriverVersion_v2");
  bind(nvml.count, library, lookup, "nvmlDeviceGetCount_v2");
  bind(nvml.by_index, library, lookup, "nvmlDeviceGetHandleByIndex_v2");
  bind(nvml.name, library, lookup, "nvmlDeviceGetName");
  bind(nvml.uuid, library, lookup, "nvmlDeviceGetUUID");
  bind(nvml.pci, library, lookup, "nvmlDeviceGetPciInfo_v3");
  bind(nvml.memory, library, lookup, "nvmlDeviceGetMemoryInfo");
  bind(nvml.compute_mode, library, lookup, "nvmlDeviceGetComputeMode");
  bind(nvml.mig_mode, library, lookup, "nvmlDeviceGetMigMode");
  bind(nvml.max_mig_devices, library, lookup, "nvmlDeviceGetMaxMigDeviceCount");
  bind(nvml.mig_device, library, lookup, "nvmlDeviceGetMigDeviceHandleByIndex");
  bind(nvml.gpu_instance, library, lookup, "nvmlDeviceGetGpuInstanceId");
  bind(nvml.compute_instance, library, lookup, "nvmlDeviceGetComputeInstanceId");
  bind(nvml.attributes, library, lookup, "nvmlDeviceGetAttributes_v2");
  return nvml;
}

// Older drivers lack the later functions: what cannot be called is not told.
template <typename Function, typename... Arguments>
bool call(Function function, Arguments... arguments) {
  return function != nullptr && function(arguments...) == kSuccess;
}

template <typename Function>
void put_text(json::object& into, std::string_view key, Function function, Device device) {
  std::array<char, 128> text{};
  if (call(function, device, text.data(), static_cast<unsigned>(text.size() - 1)))
    into[key] = text.data();
}

template <typename Function>
void put_number(json::object& into, std::string_view key, Function function, Device device) {
  unsigned number = 0;
  if (call(function, device, &number)) into[key] = static_cast<int64_t>(number);
}

void put_memory(json::object& into, const Nvml& nvml, Device device) {
  Memory memory{};
  if (call(nvml.memory, device, &memory)) into["memory_bytes"] = static_cast<int64_t>(memory.total);
}

json::array mig_devices(const Nvml& nvml, Device device) {
  json::array devices;
  unsigned most = 0;
  if (!call(nvml.max_mig_devices, device, &most)) return devices;
  for (unsigned i = 0; i < most && i < kMaxGpus; ++i) {
    Device part = nullptr;
    if (!call(nvml.mig_device, device, i, &part)) continue;  // the places in between are empty
    json::object entry;
    put_text(entry, "name", nvml.name, part);
    put_number(entry, "gpu_instance", nvml.gpu_instance, part);
    put_number(entry, "compute_instance", nvml.compute_instance, part);
    put_memory(entry, nvml, part);
    Attributes attributes{};
    if (call(nvml.attributes, part, &attributes)) {
      entry["multiprocessors"] = static_cast<int64_t>(attributes.multiprocessors);
      entry["copy_engines"] = static_cast<int64_t>(attributes.copy_engines);
      entry["ofa_engines"] = static_cast<int64_t>(attributes.ofa_engines);
    }
    devices.push_back(std::move(entry));
  }
  return devices;
}

json::object describe(const Nvml& nvml, unsigned index) {
  json::object gpu;
  Device device = nullptr;
  Status status = nvml.by_index(index, &device);
  if (status != kSuccess) {
    gpu["error"] = status == kGpuIsLost ? "GPU is lost" : fmt::format("NVML returned {}", status);
    return gpu;
  }
  put_text(gpu, "name", nvml.name, device);
  put_text(gpu, "uuid", nvml.uuid, device);
  PciInfo pci{};
  if (call(nvml.pci, device, &pci)) {
    pci.bus_id[sizeof pci.bus_id - 1] = '\0';
    gpu["bus_id"] = static_cast<const char*>(pci.bus_id);
  }
  put_memory(gpu, nvml, device);
  unsigned mode = 0;
  static constexpr std::array kComputeModes = {"Default", "Exclusive_Thread", "Prohibited",
                                               "Exclusive_Process"};
  if (call(nvml.compute_mode, device, &mode) && mode < kComputeModes.size())
    gpu["compute_mode"] = kComputeModes[mode];
  unsigned current = 0, pending = 0;
  gpu["mig_mode"] = "N/A";
  if (call(nvml.mig_mode, device, &current, &pending))
    gpu["mig_mode"] = current == 1 ? "Enabled" : "Disabled";
  if (current == 1) gpu["mig_devices"] = mig_devices(nvml, device);
  return gpu;
}

}  // namespace

Result<std::string> nvml_report(void* library, NvmlLookup lookup) {
  Nvml nvml = bind_all(library, lookup);
  if (nvml.init == nullptr || nvml.count == nullptr || nvml.by_index == nullptr)
    return fail(Code::probe_failed, "libnvidia-ml.so.1 lacks the functions of NVML version 2");
  if (Status status = nvml.init(); status != kSuccess)
    return fail(Code::probe_failed, fmt::format("NVML returned {}", status));
  json::object report;
  std::array<char, 96> driver{};
  if (call(nvml.driver_version, driver.data(), static_cast<unsigned>(driver.size() - 1)))
    report["driver_version"] = driver.data();
  int cuda = 0;
  if (call(nvml.cuda_version, &cuda) && cuda > 0)
    report["cuda_version"] = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
  unsigned count = 0;
  Status counted = nvml.count(&count);
  json::array gpus;
  for (unsigned i = 0; counted == kSuccess && i < count && i < kMaxGpus; ++i)
    gpus.push_back(describe(nvml, i));
  report["gpus"] = std::move(gpus);
  call(nvml.shutdown);
  if (counted != kSuccess)
    return fail(Code::probe_failed, fmt::format("NVML returned {}", counted));
  return to_text(report);
}

Result<std::string> nvml_report() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail(Code::not_found, "libnvidia-ml.so.1 is not installed");
  auto report =
      nvml_report(library, [](void* from, const char* name) { return dlsym(from, name); });
  dlclose(library);
  return report;
}

}  // namespace exa
