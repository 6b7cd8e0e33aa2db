// The catalogue's rows. Figures: vendors' data sheets (sold memory, board power), what the vendors'
// tools print (reported memory), NVIDIA's Multi-Instance GPU user guide (profiles). 0 stands where
// no figure is certain.
#include "base/quantity.h"
#include "hardware/catalogue.h"

namespace exa {
namespace {

using Name = std::string_view;

// --- MIG profiles: name, compute slices, memory slices, GiB, most on one card
// ------------------------

// The guide's pattern for cards of seven compute and eight memory slices; only the sizes differ.
#define EXA_MIG_OF_SEVEN(identifier, a, b, c, d)                                 \
  constexpr MigProfile identifier[] = {                                          \
      {"1g." #a "gb", 1, 1, a * kGiB, 7}, {"1g." #a "gb+me", 1, 1, a * kGiB, 1}, \
      {"1g." #b "gb", 1, 2, b * kGiB, 4}, {"2g." #b "gb", 2, 2, b * kGiB, 3},    \
      {"3g." #c "gb", 3, 4, c * kGiB, 2}, {"4g." #c "gb", 4, 4, c * kGiB, 1},    \
      {"7g." #d "gb", 7, 8, d * kGiB, 1},                                        \
  }
EXA_MIG_OF_SEVEN(kMig40, 5, 10, 20, 40);
EXA_MIG_OF_SEVEN(kMig80, 10, 20, 40, 80);
EXA_MIG_OF_SEVEN(kMig94, 12, 24, 47, 94);
EXA_MIG_OF_SEVEN(kMig96, 12, 24, 48, 96);
EXA_MIG_OF_SEVEN(kMig141, 18, 35, 71, 141);
EXA_MIG_OF_SEVEN(kMig180, 23, 45, 90, 180);
EXA_MIG_OF_SEVEN(kMig186, 23, 47, 93, 186);
EXA_MIG_OF_SEVEN(kMig269, 34, 67, 135, 269);
#undef EXA_MIG_OF_SEVEN

constexpr MigProfile kMigA30[] = {
    {"1g.6gb", 1, 1, 6 * kGiB, 4},   {"1g.6gb+me", 1, 1, 6 * kGiB, 1},
    {"2g.12gb", 2, 2, 12 * kGiB, 2}, {"2g.12gb+me", 2, 2, 12 * kGiB, 1},
    {"4g.24gb", 4, 4, 24 * kGiB, 1},
};

constexpr MigProfile kMigRtxPro6000[] = {
    {"1g.24gb", 1, 1, 24 * kGiB, 4},     {"1g.24gb+me", 1, 1, 24 * kGiB, 1},
    {"1g.24gb+gfx", 1, 1, 24 * kGiB, 4}, {"1g.24gb+me.all", 1, 1, 24 * kGiB, 1},
    {"1g.24gb-me", 1, 1, 24 * kGiB, 4},  {"2g.48gb", 2, 2, 48 * kGiB, 2},
    {"2g.48gb+gfx", 2, 2, 48 * kGiB, 2}, {"2g.48gb+me.all", 2, 2, 48 * kGiB, 1},
    {"2g.48gb-me", 2, 2, 48 * kGiB, 2},  {"4g.96gb", 4, 4, 96 * kGiB, 1},
    {"4g.96gb+gfx", 4, 4, 96 * kGiB, 1},
};

// --- Capability tags by architecture
// ----------------------------------------------------------------

constexpr Name kKepler[] = {"fp32", "fp64"};
constexpr Name kPascal[] = {"fp16", "fp32", "fp64"};
constexpr Name kVolta[] = {"fp16", "fp32", "fp64"};
constexpr Name kTuring[] = {"fp16", "fp32", "int8", "int4"};
constexpr Name kAmpere[] = {"fp16", "bf16", "tf32", "fp32", "fp64", "int8", "int4"};
constexpr Name kAmpereGraphics[] = {"fp16", "bf16", "tf32", "fp32", "int8", "int4"};
constexpr Name kAda[] = {"fp16", "bf16", "tf32", "fp32", "fp8", "int8", "int4"};
constexpr Name kHopper[] = {"fp16", "bf16", "tf32", "fp32", "fp64", "fp8", "int8"};
constexpr Name kBlackwell[] = {"fp16", "bf16", "tf32", "fp32", "fp64", "fp8", "fp6", "fp4", "int8"};
constexpr Name kBlackwellGraphics[] = {"fp16", "bf16", "tf32", "fp32", "fp8", "fp6", "fp4", "int8"};
constexpr Name kVega[] = {"fp16", "fp32", "fp64", "int8"};
constexpr Name kRdna2[] = {"fp16", "fp32", "int8"};
constexpr Name kCdna[] = {"fp16", "bf16", "fp32", "fp64", "int8"};
constexpr Name kCdna3[] = {"fp16", "bf16", "tf32", "fp32", "fp64", "fp8", "int8"};
constexpr Name kCdna4[] = {"fp16", "bf16", "fp32", "fp64", "fp8", "fp6", "fp4", "int8"};
constexpr Name kGaudi1[] = {"bf16", "fp32"};
constexpr Name kGaudi2[] = {"fp16", "bf16", "tf32", "fp32", "fp8"};
constexpr Name kTpuFloat[] = {"bf16"};
constexpr Name kTpuInt[] = {"bf16", "int8"};
constexpr Name kTpu7[] = {"bf16", "fp8"};
constexpr Name kXeFlex[] = {"fp16", "bf16", "fp32", "int8"};
constexpr Name kXeMax[] = {"fp16", "bf16", "tf32", "fp32", "fp64", "int8"};

// --- Aliases: what tools print beyond the canonical name and the series
// ----------------------------- Vendor words at the front, case and separators do not count. A
// leading part of a real name ("A100 80GB") needs no alias. A name with '/' stands for several
// models and counts only as a whole.

constexpr Name kP100Pcie16[] = {"P100-PCIe"};
constexpr Name kP100Sxm2[] = {"P100-SXM2"};
constexpr Name kV100Sxm16[] = {"V100-SXM-16GB"};
constexpr Name kV100Sxm32[] = {"V100-SXM-32GB"};
constexpr Name kA30[] = {"A30-PCIe", "A30-24GB"};
constexpr Name kA100Sxm40[] = {"A100-SXM-40GB"};
constexpr Name kA100Sxm80[] = {"A100-SXM-80GB"};
constexpr Name kA100Pcie80[] = {"A100 80GB PCIe"};
constexpr Name kA800Sxm[] = {"A800-SXM-80GB"};
constexpr Name kA800Pcie[] = {"A800 80GB PCIe"};
constexpr Name kH100Sxm80[] = {"H100 80GB HBM3", "H100-SXM-80GB", "H100 mega 80GB", "H100SXM"};
constexpr Name kH100Sxm94[] = {"H100-SXM-94GB"};
constexpr Name kH100Pcie80[] = {"H100 PCIe", "H100PCIe"};
constexpr Name kH100Nvl[] = {"H100NVL", "H100-PCIE-94GB"};
constexpr Name kH100Gh[] = {"H100 96GB"};
constexpr Name kH800Sxm[] = {"H800-SXM-80GB"};
constexpr Name kH800Pcie[] = {"H800 PCIe"};
constexpr Name kH200Sxm[] = {"H200 SXM 141GB", "H200 141GB HBM3e"};
constexpr Name kH200Nvl[] = {"H200 NVL"};
constexpr Name kGh200[] = {"GH200 480GB", "GH200 96GB HBM3", "GH200 Grace Hopper Superchip"};
constexpr Name kB200[] = {"B200 SXM6", "B200 180GB HBM3e"};
constexpr Name kB300[] = {"B300 SXM6 AC", "B300 SXM6"};
constexpr Name kRtx4000Ada[] = {"RTX 4000 Ada Generation"};
constexpr Name kRtx6000Ada[] = {"RTX 6000 Ada Generation", "RTX6000-Ada"};
constexpr Name kRtxA6000[] = {"RTXA6000"};
constexpr Name kRtxProServer[] = {"RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Server"};
constexpr Name kRtxProStation[] = {"RTX PRO 6000 Blackwell Workstation Edition"};
constexpr Name kRtxProMaxQ[] = {"RTX PRO 6000 Blackwell Max-Q Workstation Edition"};
constexpr Name kRtx4090[] = {"RTX4090"};
constexpr Name kRtx3090[] = {"RTX3090"};

constexpr Name kMi50x16[] = {"MI50 16GB"};
constexpr Name kMi50x32[] = {"MI50 32GB"};
constexpr Name kMi250[] = {"MI250X/MI250", "MI250 (MCM) OAM AC MBA"};
constexpr Name kMi250x[] = {"MI250X/MI250"};
constexpr Name kMi300[] = {"MI300"};
constexpr Name kMi300x[] = {"MI300X OAM", "MI300"};
constexpr Name kMi308x[] = {"MI308X OAM"};
constexpr Name kMi325x[] = {"MI325X OAM"};
constexpr Name kMi350x[] = {"MI350X OAM"};
constexpr Name kMi355x[] = {"MI355X OAM"};
// One PCI id (73df) serves all three, so the tools cannot say which one it is.
constexpr Name kNavi22[] = {"RX 6700/6700 XT/6750 XT / 6800M/6850M XT", "RX 6700/6700 XT / 6800M"};

constexpr Name kGaudiFirst[] = {"Gaudi1", "HL-100", "HL-200", "HL-205"};
constexpr Name kGaudiSecond[] = {"Gaudi2",  "HL-225",  "HL-225B",        "HL-225C",
                                 "HL-225D", "HL-225H", "Gaudi 2 HL-225", "Gaudi2 HL-225"};
constexpr Name kGaudiThirdOam[] = {"Gaudi3",        "HL-325",         "HL-325L",
                                   "Gaudi3-OAM",    "Gaudi 3 HL-325", "Gaudi 3 HL-325L",
                                   "Gaudi3 HL-325L"};
constexpr Name kGaudiThirdPcie[] = {"Gaudi3", "HL-338", "Gaudi3-PCIe", "Gaudi 3 HL-338"};

constexpr Name kTpu2[] = {"tpu-v2-podslice"};
constexpr Name kTpu3[] = {"tpu-v3-podslice", "tpu-v3-slice", "tpu-v3-device"};
constexpr Name kTpu4[] = {"tpu-v4-podslice"};
constexpr Name kTpu5e[] = {"v5e",
                           "tpu-v5-lite-podslice",
                           "tpu-v5-lite-device",
                           "tpu-v5-lite",
                           "v5litepod",
                           "tpu-v5litepod",
                           "tpuv5e"};
constexpr Name kTpu5p[] = {"v5p", "tpu-v5p-slice", "tpuv5p"};
constexpr Name kTpu6e[] = {"v6e", "tpu-v6e-slice", "tpuv6e", "Trillium"};
constexpr Name kTpu7x[] = {"v7x", "tpu7x", "tpu7x-slice", "tpu-v7", "Ironwood"};

constexpr Name kFlex140[] = {"Data Center GPU Flex 140"};
constexpr Name kFlex170[] = {"Data Center GPU Flex 170"};
constexpr Name kMax1100[] = {"Data Center GPU Max 1100"};
constexpr Name kMax1550[] = {"Data Center GPU Max 1550"};

// --- Rows: family, name, series, aliases, sold, reported, MIG, watts, capabilities
// ------------------

constexpr Family kN = Family::nvidia;
constexpr Family kA = Family::amd;
constexpr Family kG = Family::intel_gaudi;
constexpr Family kT = Family::tpu;
constexpr Family kO = Family::other;

constexpr DeviceModel kModels[] = {
    // The K80 board carries two devices; memory is per device, its 300 W are not.
    {kN, "K80", "K80", {}, 12 * kGiB, 11441 * kMiB, {}, 0, kKepler},
    {kN, "P100-PCIE-12GB", "P100", {}, 12 * kGiB, 12288 * kMiB, {}, 250, kPascal},
    {kN, "P100-PCIE-16GB", "P100", kP100Pcie16, 16 * kGiB, 16384 * kMiB, {}, 250, kPascal},
    {kN, "P100-SXM2-16GB", "P100", kP100Sxm2, 16 * kGiB, 16384 * kMiB, {}, 300, kPascal},
    {kN, "V100-PCIE-16GB", "V100", {}, 16 * kGiB, 16384 * kMiB, {}, 250, kVolta},
    {kN, "V100-PCIE-32GB", "V100", {}, 32 * kGiB, 32768 * kMiB, {}, 250, kVolta},
    {kN, "V100-SXM2-16GB", "V100", kV100Sxm16, 16 * kGiB, 16384 * kMiB, {}, 300, kVolta},
    {kN, "V100-SXM2-32GB", "V100", kV100Sxm32, 32 * kGiB, 32768 * kMiB, {}, 300, kVolta},
    {kN, "T4", "T4", {}, 16 * kGiB, 15360 * kMiB, {}, 70, kTuring},
    {kN, "A2", "A2", {}, 16 * kGiB, 15356 * kMiB, {}, 60, kAmpereGraphics},
    {kN, "A10", "A10", {}, 24 * kGiB, 23028 * kMiB, {}, 150, kAmpereGraphics},
    {kN, "A10G", "A10G", {}, 24 * kGiB, 23028 * kMiB, {}, 300, kAmpereGraphics},
    // Four devices on a board of 250 W; memory is per device.
    {kN, "A16", "A16", {}, 16 * kGiB, 0, {}, 0, kAmpereGraphics},
    {kN, "A30", "A30", kA30, 24 * kGiB, 24576 * kMiB, kMigA30, 165, kAmpere},
    {kN, "A40", "A40", {}, 48 * kGiB, 46068 * kMiB, {}, 300, kAmpereGraphics},
    {kN, "A100-PCIE-40GB", "A100", {}, 40 * kGiB, 40960 * kMiB, kMig40, 250, kAmpere},
    {kN, "A100-PCIE-80GB", "A100", kA100Pcie80, 80 * kGiB, 81920 * kMiB, kMig80, 300, kAmpere},
    {kN, "A100-SXM4-40GB", "A100", kA100Sxm40, 40 * kGiB, 40960 * kMiB, kMig40, 400, kAmpere},
    {kN, "A100-SXM4-80GB", "A100", kA100Sxm80, 80 * kGiB, 81920 * kMiB, kMig80, 400, kAmpere},
    {kN, "A800-PCIE-80GB", "A800", kA800Pcie, 80 * kGiB, 81920 * kMiB, kMig80, 300, kAmpere},
    {kN, "A800-SXM4-80GB", "A800", kA800Sxm, 80 * kGiB, 81920 * kMiB, kMig80, 400, kAmpere},
    {kN, "L4", "L4", {}, 24 * kGiB, 23034 * kMiB, {}, 72, kAda},
    {kN, "L40", "L40", {}, 48 * kGiB, 46068 * kMiB, {}, 300, kAda},
    {kN, "L40S", "L40S", {}, 48 * kGiB, 46068 * kMiB, {}, 350, kAda},
    {kN, "H100-PCIE-80GB", "H100", kH100Pcie80, 80 * kGiB, 81559 * kMiB, kMig80, 350, kHopper},
    {kN, "H100-SXM5-80GB", "H100", kH100Sxm80, 80 * kGiB, 81559 * kMiB, kMig80, 700, kHopper},
    {kN, "H100-SXM5-94GB", "H100", kH100Sxm94, 94 * kGiB, 0, kMig94, 700, kHopper},
    {kN, "H100-NVL-94GB", "H100", kH100Nvl, 94 * kGiB, 95830 * kMiB, kMig94, 400, kHopper},
    {kN, "H100-SXM5-96GB", "H100", kH100Gh, 96 * kGiB, 97871 * kMiB, kMig96, 0, kHopper},
    {kN, "H800-PCIE-80GB", "H800", kH800Pcie, 80 * kGiB, 81559 * kMiB, kMig80, 350, kHopper},
    {kN, "H800-SXM5-80GB", "H800", kH800Sxm, 80 * kGiB, 81559 * kMiB, kMig80, 700, kHopper},
    {kN, "H20", "H20", {}, 96 * kGiB, 97871 * kMiB, kMig96, 0, kHopper},
    {kN, "H200-SXM5-141GB", "H200", kH200Sxm, 141 * kGiB, 143771 * kMiB, kMig141, 700, kHopper},
    {kN, "H200-NVL-141GB", "H200", kH200Nvl, 141 * kGiB, 143771 * kMiB, kMig141, 600, kHopper},
    {kN, "GH200-96GB", "GH200", kGh200, 96 * kGiB, 97871 * kMiB, kMig96, 0, kHopper},
    {kN, "B200", "B200", kB200, 180 * kGiB, 183359 * kMiB, kMig180, 1000, kBlackwell},
    {kN, "B300", "B300", kB300, 288 * kGiB, 275040 * kMiB, kMig269, 0, kBlackwell},
    {kN, "GB200", "GB200", {}, 186 * kGiB, 189471 * kMiB, kMig186, 0, kBlackwell},
    {kN, "RTX-3090", "RTX-3090", kRtx3090, 24 * kGiB, 24576 * kMiB, {}, 350, kAmpereGraphics},
    {kN, "RTX-4090", "RTX-4090", kRtx4090, 24 * kGiB, 24564 * kMiB, {}, 450, kAda},
    {kN, "RTX-A6000", "RTX-A6000", kRtxA6000, 48 * kGiB, 46068 * kMiB, {}, 300, kAmpereGraphics},
    {kN, "RTX-4000-Ada", "RTX-4000-Ada", kRtx4000Ada, 20 * kGiB, 20475 * kMiB, {}, 130, kAda},
    {kN, "RTX-6000-Ada", "RTX-6000-Ada", kRtx6000Ada, 48 * kGiB, 46068 * kMiB, {}, 300, kAda},
    {kN, "RTX-PRO-6000-Blackwell-Server", "RTX-PRO-6000", kRtxProServer, 96 * kGiB, 97887 * kMiB,
     kMigRtxPro6000, 600, kBlackwellGraphics},
    {kN, "RTX-PRO-6000-Blackwell-Workstation", "RTX-PRO-6000", kRtxProStation, 96 * kGiB,
     97887 * kMiB, kMigRtxPro6000, 600, kBlackwellGraphics},
    {kN, "RTX-PRO-6000-Blackwell-Max-Q", "RTX-PRO-6000", kRtxProMaxQ, 96 * kGiB, 97887 * kMiB,
     kMigRtxPro6000, 300, kBlackwellGraphics},

    {kA, "MI50-16GB", "MI50", kMi50x16, 16 * kGiB, 16368 * kMiB, {}, 300, kVega},
    {kA, "MI50-32GB", "MI50", kMi50x32, 32 * kGiB, 32752 * kMiB, {}, 300, kVega},
    {kA, "MI100", "MI100", {}, 32 * kGiB, 32752 * kMiB, {}, 300, kCdna},
    {kA, "MI210", "MI210", {}, 64 * kGiB, 65520 * kMiB, {}, 300, kCdna},
    // ROCm and the PCI bus show the two dies of these boards as two devices of half the memory.
    {kA, "MI250", "MI250", kMi250, 128 * kGiB, 65520 * kMiB, {}, 560, kCdna},
    {kA, "MI250X", "MI250X", kMi250x, 128 * kGiB, 65520 * kMiB, {}, 560, kCdna},
    {kA, "MI300A", "MI300A", kMi300, 128 * kGiB, 0, {}, 550, kCdna3},
    {kA, "MI300X", "MI300X", kMi300x, 192 * kGiB, 196592 * kMiB, {}, 750, kCdna3},
    {kA, "MI308X", "MI308X", kMi308x, 192 * kGiB, 0, {}, 0, kCdna3},
    {kA, "MI325X", "MI325X", kMi325x, 256 * kGiB, 0, {}, 1000, kCdna3},
    {kA, "MI350X", "MI350X", kMi350x, 288 * kGiB, 0, {}, 1000, kCdna4},
    {kA, "MI355X", "MI355X", kMi355x, 288 * kGiB, 0, {}, 1400, kCdna4},
    {kA, "RX-6700", "RX-6700", kNavi22, 10 * kGiB, 0, {}, 175, kRdna2},
    {kA, "RX-6700-XT", "RX-6700-XT", kNavi22, 12 * kGiB, 12272 * kMiB, {}, 230, kRdna2},
    {kA, "RX-6800M", "RX-6800M", kNavi22, 12 * kGiB, 12272 * kMiB, {}, 0, kRdna2},

    {kG, "Gaudi-1", "Gaudi-1", kGaudiFirst, 32 * kGiB, 32768 * kMiB, {}, 0, kGaudi1},
    {kG, "Gaudi-2", "Gaudi-2", kGaudiSecond, 96 * kGiB, 98304 * kMiB, {}, 600, kGaudi2},
    {kG, "Gaudi-3-OAM", "Gaudi-3", kGaudiThirdOam, 128 * kGiB, 131072 * kMiB, {}, 900, kGaudi2},
    {kG, "Gaudi-3-PCIe", "Gaudi-3", kGaudiThirdPcie, 128 * kGiB, 131072 * kMiB, {}, 600, kGaudi2},

    // Memory per chip; the chips' power is not published.
    {kT, "TPU-v2", "TPU-v2", kTpu2, 16 * kGiB, 0, {}, 0, kTpuFloat},
    {kT, "TPU-v3", "TPU-v3", kTpu3, 32 * kGiB, 0, {}, 0, kTpuFloat},
    {kT, "TPU-v4", "TPU-v4", kTpu4, 32 * kGiB, 0, {}, 0, kTpuInt},
    {kT, "TPU-v5e", "TPU-v5e", kTpu5e, 16 * kGiB, 0, {}, 0, kTpuInt},
    {kT, "TPU-v5p", "TPU-v5p", kTpu5p, 95 * kGiB, 0, {}, 0, kTpuInt},
    {kT, "TPU-v6e", "TPU-v6e", kTpu6e, 32 * kGiB, 0, {}, 0, kTpuInt},
    {kT, "TPU-v7x", "TPU-v7x", kTpu7x, 192 * kGiB, 0, {}, 0, kTpu7},

    // Two devices on the Flex 140's board of 75 W; memory is per device.
    {kO, "Flex-140", "Flex-140", kFlex140, 6 * kGiB, 0, {}, 0, kXeFlex},
    {kO, "Flex-170", "Flex-170", kFlex170, 16 * kGiB, 0, {}, 150, kXeFlex},
    {kO, "Max-1100", "Max-1100", kMax1100, 48 * kGiB, 0, {}, 300, kXeMax},
    {kO, "Max-1550", "Max-1550", kMax1550, 128 * kGiB, 0, {}, 600, kXeMax},
};

}  // namespace

std::span<const DeviceModel> catalogue() {
  return kModels;
}

}  // namespace exa
