#include "discover/pci_ids.h"

#include <algorithm>
#include <array>

namespace exa {
namespace {

constexpr std::array kVendors = {
    PciVendor{kPciNvidia, Family::nvidia, "NVIDIA"},
    PciVendor{kPciAmd, Family::amd, "AMD"},
    PciVendor{kPciHabana, Family::intel_gaudi, "Habana"},
    PciVendor{kPciIntel, Family::other, "Intel"},
    PciVendor{kPciGoogle, Family::tpu, "Google"},
};

constexpr std::array kProducts = {
    PciProduct{kPciNvidia, 0x15f8, "P100-PCIE-16GB"},
    PciProduct{kPciNvidia, 0x15f9, "P100-SXM2-16GB"},
    PciProduct{kPciNvidia, 0x1c81, "GeForce GTX 1050"},
    PciProduct{kPciNvidia, 0x1db1, "V100-SXM2-16GB"},
    PciProduct{kPciNvidia, 0x1db4, "V100-PCIE-16GB"},
    PciProduct{kPciNvidia, 0x1db5, "V100-SXM2-32GB"},
    PciProduct{kPciNvidia, 0x1db6, "V100-PCIE-32GB"},
    PciProduct{kPciNvidia, 0x1eb8, "T4"},
    PciProduct{kPciNvidia, 0x20b0, "A100-SXM4-40GB"},
    PciProduct{kPciNvidia, 0x20b2, "A100-SXM4-80GB"},
    PciProduct{kPciNvidia, 0x20b5, "A100-PCIE-80GB"},
    PciProduct{kPciNvidia, 0x20b7, "A30"},
    PciProduct{kPciNvidia, 0x20f1, "A100-PCIE-40GB"},
    PciProduct{kPciNvidia, 0x2230, "RTX-A6000"},
    PciProduct{kPciNvidia, 0x2235, "A40"},
    PciProduct{kPciNvidia, 0x2236, "A10"},
    PciProduct{kPciNvidia, 0x2237, "A10G"},
    PciProduct{kPciNvidia, 0x2321, "H100-NVL-94GB"},
    PciProduct{kPciNvidia, 0x2330, "H100-SXM5-80GB"},
    PciProduct{kPciNvidia, 0x2331, "H100-PCIE-80GB"},
    PciProduct{kPciNvidia, 0x2335, "H200-SXM5-141GB"},
    PciProduct{kPciNvidia, 0x233b, "H200-NVL-141GB"},
    PciProduct{kPciNvidia, 0x26b1, "RTX-6000-Ada"},
    PciProduct{kPciNvidia, 0x26b5, "L40"},
    PciProduct{kPciNvidia, 0x26b9, "L40S"},
    PciProduct{kPciNvidia, 0x27b8, "L4"},
    PciProduct{kPciNvidia, 0x2901, "B200"},
    PciProduct{kPciAmd, 0x738c, "MI100"},
    PciProduct{kPciAmd, 0x7408, "MI250X"},
    PciProduct{kPciAmd, 0x740c, "MI250X/MI250"},
    PciProduct{kPciAmd, 0x740f, "MI210"},
    PciProduct{kPciAmd, 0x74a0, "MI300A"},
    PciProduct{kPciAmd, 0x74a1, "MI300X"},
    PciProduct{kPciAmd, 0x74a5, "MI325X"},
    PciProduct{kPciAmd, 0x74b5, "MI300X", true},
    PciProduct{kPciAmd, 0x74b9, "MI325X", true},
    PciProduct{kPciHabana, 0x1000, "Gaudi-1"},
    PciProduct{kPciHabana, 0x1020, "Gaudi-2"},
    PciProduct{kPciHabana, 0x1021, "Gaudi 2E"},
    PciProduct{kPciHabana, 0x1060, "Gaudi-3"},
    PciProduct{kPciIntel, 0x0bd5, "Max-1550"},
    PciProduct{kPciIntel, 0x0bda, "Max-1100"},
    PciProduct{kPciIntel, 0x56c0, "Flex-170"},
    PciProduct{kPciIntel, 0x56c1, "Flex-140"},
    PciProduct{kPciGoogle, 0x005e, "TPU-v4"},
    PciProduct{kPciGoogle, 0x0062, "TPU-v5p"},
    PciProduct{kPciGoogle, 0x0063, "TPU-v5e"},
    PciProduct{kPciGoogle, 0x006f, "TPU-v6e"},
};

}  // namespace

const PciProduct* find_pci_product(uint16_t vendor, uint16_t device) {
  auto found = std::find_if(kProducts.begin(), kProducts.end(), [&](const PciProduct& one) {
    return one.vendor == vendor && one.device == device;
  });
  return found == kProducts.end() ? nullptr : &*found;
}

const PciVendor* find_pci_vendor(uint16_t vendor) {
  auto found = std::find_if(kVendors.begin(), kVendors.end(),
                            [&](const PciVendor& one) { return one.vendor == vendor; });
  return found == kVendors.end() ? nullptr : &*found;
}

}  // namespace exa
