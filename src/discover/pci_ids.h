// PCI vendors of accelerators, and the device ids whose product is certain. Anything else keeps its
// number: a wrong name would be worse than none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hardware/family.h"

namespace exa {

inline constexpr uint16_t kPciNvidia = 0x10de;
inline constexpr uint16_t kPciAmd = 0x1002;
inline constexpr uint16_t kPciHabana = 0x1da3;
inline constexpr uint16_t kPciIntel = 0x8086;
inline constexpr uint16_t kPciGoogle = 0x1ae0;

struct PciProduct {
  uint16_t vendor;
  uint16_t device;
  std::string_view name;          // as the catalogue knows it
  bool virtual_function = false;  // only a virtual function has this id
};

const PciProduct* find_pci_product(uint16_t vendor, uint16_t device);  // nullptr when not certain

// nullptr for vendors that make no accelerators (ASPEED and Matrox make servers' management chips).
struct PciVendor {
  uint16_t vendor;
  Family family;
  std::string_view name;
};
const PciVendor* find_pci_vendor(uint16_t vendor);

}  // namespace exa
