// The PCI bus: which accelerators a machine has, whether or not a tool can speak to them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "discover/host_gpus.h"

namespace exa {

struct PciDevice {
  std::string address;  // "0000:10:00.0"
  std::optional<uint16_t> device_class, vendor, device;
  std::optional<std::string> driver;  // empty: no driver is bound; nullopt: the source does not say
  bool virtual_function = false;
};

// "/sys pci": one fact a line, `PATH=content` for a file and `PATH->name` for a link's target, of
// the files class, vendor, device and the links driver and physfn below /sys/bus/pci/devices/.
Result<std::vector<PciDevice>> parse_sys_pci(std::string_view text);
Result<std::vector<PciDevice>> parse_lspci(std::string_view text);  // lspci -nn

struct PciAccelerator {
  PciDevice device;
  Family family = Family::other;
  std::string name;  // of the product if its id is certain, else "10de:1234"
};

// What can compute: 3D controllers, display and processing accelerators of the vendors that make
// them, and VGA devices that are no management chip and no part of a processor.
std::vector<PciAccelerator> accelerators(const std::vector<PciDevice>& devices);

// Devices on the bus that no tool's list holds, each with why it cannot be used, added to the list.
// `asked` says what came of the family's tools: "nvidia-smi was not found".
struct ToolState {
  bool answered = false;  // with a list, or that there is nothing to list
  std::string asked;
};
void add_unlisted(std::vector<HostGpu>& gpus, Family family,
                  const std::vector<PciAccelerator>& found, const ToolState& tools,
                  std::vector<CardSet>& virtual_functions);

}  // namespace exa
