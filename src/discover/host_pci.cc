#include "discover/host_pci.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "discover/pci_ids.h"
#include "hardware/catalogue.h"

namespace exa {
namespace {

// The first two bytes of a PCI class.
enum : uint16_t { kVga = 0x0300, k3dController = 0x0302, kDisplay = 0x0380, kProcessing = 0x1200 };

std::optional<uint16_t> hex16(std::string_view text) {
  uint16_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Failure wrong(std::string_view what, int line, std::string_view why) {
  return fail(Code::unreadable_output, fmt::format("{}: line {}: {}", what, line, why));
}

// "0x030200" -> 0x0302 (a class is three bytes), "0x10de" -> 0x10de.
std::optional<uint16_t> sys_number(std::string_view text, size_t digits) {
  text = trim(text);
  if (!text.starts_with("0x") || text.size() != digits + 2) return std::nullopt;
  return hex16(text.substr(2, 4));
}

// A virtual function shows as one by its link to the physical function, by an id of its own, or,
// where neither is seen, by being a further function of its slot: what computes is function 0.
bool is_virtual(const PciDevice& device) {
  const PciProduct* product =
      device.vendor && device.device ? find_pci_product(*device.vendor, *device.device) : nullptr;
  return device.virtual_function || (product != nullptr && product->virtual_function) ||
         !device.address.ends_with(".0");
}

bool computes(const PciDevice& device) {
  if (!device.device_class || !device.vendor || !find_pci_vendor(*device.vendor)) return false;
  if (*device.device_class != kVga)
    return *device.device_class == k3dController || *device.device_class == kDisplay ||
           *device.device_class == kProcessing;
  // Bus 0 is where the graphics of Intel's processors sit; a card has a bus of its own.
  return *device.vendor != kPciIntel || !device.address.starts_with("0000:00:");
}

// The drivers through which a family's devices are used by processes of the machine itself.
struct OwnDriver {
  Family family;
  std::string_view name;
};
constexpr OwnDriver kOwnDrivers[] = {
    {Family::nvidia, "nvidia"},
    {Family::amd, "amdgpu"},
    {Family::intel_gaudi, "habanalabs"},
    {Family::tpu, "vfio-pci"},  // through which libtpu opens the chips
};

// Nothing listed the card, and nothing says that it cannot be used: its vendor's driver is bound to
// it, or the source does not name drivers (lspci without -k).
bool may_be_asked(const PciAccelerator& card, const ToolState& tools) {
  if (tools.answered) return false;
  const std::optional<std::string>& driver = card.device.driver;
  return !driver || std::ranges::any_of(kOwnDrivers, [&](const OwnDriver& own) {
    return own.family == card.family && own.name == *driver;
  });
}

std::string why_unusable(const PciAccelerator& card, const ToolState& tools) {
  const std::optional<std::string>& driver = card.device.driver;
  if (driver && driver->empty()) return "no kernel driver is bound to it";
  if (driver == "vfio-pci" && card.family == Family::tpu)
    return "bound to vfio-pci: in use by libtpu or a virtual machine, which cannot be told apart "
           "here";
  if (driver == "vfio-pci") return "bound to vfio-pci: it belongs to a virtual machine";
  std::string seen = driver ? fmt::format("seen on the PCI bus with driver {}", printable(*driver))
                            : "seen on the PCI bus";
  return fmt::format("{}; {}", seen, tools.asked);
}

}  // namespace

Result<std::vector<PciDevice>> parse_sys_pci(std::string_view text) {
  constexpr std::string_view kWhat = "/sys pci";
  constexpr std::string_view kRoot = "/sys/bus/pci/devices/";
  std::map<std::string, PciDevice, std::less<>> devices;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line);
    if (line.empty()) continue;
    size_t slash = line.find('/', kRoot.size());
    if (!line.starts_with(kRoot) || slash == std::string_view::npos)
      return wrong(kWhat, number, "is no file of a PCI device");
    std::string address = pci_address(line.substr(kRoot.size(), slash - kRoot.size()));
    if (address.empty()) return wrong(kWhat, number, "is no PCI address");
    PciDevice& device = devices[address];
    device.address = address;
    if (!device.driver) device.driver = "";
    std::string_view fact = line.substr(slash + 1);
    if (fact.starts_with("driver->")) {
      device.driver = fact.substr(8);
    } else if (fact.starts_with("physfn->")) {
      device.virtual_function = true;
    } else if (size_t equals = fact.find('='); equals != std::string_view::npos) {
      std::string_view name = fact.substr(0, equals), value = fact.substr(equals + 1);
      std::optional<uint16_t> read = sys_number(value, name == "class" ? 6 : 4);
      if (name != "class" && name != "vendor" && name != "device") continue;
      if (!read) return wrong(kWhat, number, fmt::format("'{}' is no {}", printable(value), name));
      (name == "class"    ? device.device_class
       : name == "vendor" ? device.vendor
                          : device.device) = read;
    } else {
      return wrong(kWhat, number, "has neither '=' nor '->'");
    }
  }
  std::vector<PciDevice> list;
  for (auto& [address, device] : devices) list.push_back(std::move(device));
  return list;
}

// "17:00.0 3D controller [0302]: NVIDIA Corporation GA100GL [A30 PCIe] [10de:20b7] (rev a1)"
Result<std::vector<PciDevice>> parse_lspci(std::string_view text) {
  constexpr std::string_view kWhat = "lspci -nn";
  std::vector<PciDevice> devices;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    // Details (-v, -k) are indented; with -k one of them names the driver.
    if (!line.empty() && (line[0] == '\t' || line[0] == ' ')) {
      size_t driver = line.find("Kernel driver in use: ");
      if (driver != std::string_view::npos && !devices.empty())
        devices.back().driver = trim(line.substr(driver + 22));
      continue;
    }
    line = trim(line);
    if (line.empty()) continue;
    PciDevice device;
    device.address = pci_address(line.substr(0, line.find(' ')));
    size_t end_of_class = line.find("]: ");
    if (device.address.empty() || end_of_class == std::string_view::npos || end_of_class < 4)
      return wrong(kWhat, number, "is no PCI device");
    device.device_class = hex16(line.substr(end_of_class - 4, 4));
    std::string_view rest = line.substr(end_of_class + 3);
    for (size_t open = rest.rfind('['); open != std::string_view::npos && !device.device;
         open = open == 0 ? std::string_view::npos : rest.rfind('[', open - 1)) {
      std::string_view ids = rest.substr(open + 1, 9);
      if (ids.size() != 9 || ids[4] != ':') continue;
      device.vendor = hex16(ids.substr(0, 4));
      device.device = hex16(ids.substr(5, 4));
    }
    if (!device.device_class || !device.vendor || !device.device)
      return wrong(kWhat, number, "has no class or no [vendor:device]: ask lspci -nn");
    device.virtual_function = rest.find(" VF]") != std::string_view::npos ||
                              rest.find("Virtual Function") != std::string_view::npos;
    devices.push_back(std::move(device));
  }
  return devices;
}

std::vector<PciAccelerator> accelerators(const std::vector<PciDevice>& devices) {
  std::vector<PciAccelerator> found;
  for (const PciDevice& device : devices) {
    if (!computes(device)) continue;
    PciAccelerator card{device, find_pci_vendor(*device.vendor)->family, ""};
    card.device.virtual_function = is_virtual(device);
    const PciProduct* product =
        device.device ? find_pci_product(*device.vendor, *device.device) : nullptr;
    card.name = product != nullptr
                    ? std::string(product->name)
                    : fmt::format("{:04x}:{:04x}", *device.vendor, device.device.value_or(0));
    found.push_back(std::move(card));
  }
  return found;
}

void add_unlisted(std::vector<HostGpu>& gpus, Family family,
                  const std::vector<PciAccelerator>& found, const ToolState& tools,
                  std::vector<CardSet>& virtual_functions) {
  std::set<std::string> listed;
  int64_t listed_somewhere = 0;  // entries whose address the tool did not give
  for (const HostGpu& gpu : gpus) {
    if (gpu.family != family) continue;
    if (gpu.address.empty())
      ++listed_somewhere;
    else
      listed.insert(gpu.address);
  }
  std::vector<const PciAccelerator*> rest;
  for (const PciAccelerator& card : found)
    if (card.family == family && !listed.contains(card.device.address)) rest.push_back(&card);
  // Entries without an address are the devices that a driver serves, in the first place.
  auto served = [](const PciAccelerator* card) {
    return card->device.driver && !card->device.driver->empty() &&
           card->device.driver != "vfio-pci";
  };
  std::stable_partition(rest.begin(), rest.end(), served);
  for (const PciAccelerator* card : rest) {
    if (listed_somewhere > 0 && !card->device.virtual_function) {
      --listed_somewhere;
      continue;
    }
    if (!card->device.virtual_function) {
      HostGpu gpu;
      gpu.family = family;
      gpu.reported = card->name;
      gpu.address = card->device.address;
      gpu.fault = why_unusable(*card, tools);
      gpu.may_be_asked = may_be_asked(*card, tools);
      if (card->name.starts_with("MI250")) gpu.fault += "; two of these devices are one card";
      gpus.push_back(std::move(gpu));
      continue;
    }
    // A virtual function is a part of a card and no card: there is no number of cards to give.
    CardSet set;
    set.family = family;
    set.reported = card->name;
    if (const DeviceModel* model = single_model(card->name)) set.model = model->name;
    if (may_be_asked(*card, tools)) set.offers_unread = ways_to_share(family);
    set.remark = "virtual functions of a card: " + why_unusable(*card, tools);
    if (std::find(virtual_functions.begin(), virtual_functions.end(), set) ==
        virtual_functions.end())
      virtual_functions.push_back(std::move(set));
  }
}

}  // namespace exa
