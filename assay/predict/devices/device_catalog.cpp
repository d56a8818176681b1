#include "assay/predict/devices/device_sheet.hpp"

namespace assay::predict {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;

DeviceSheet volta() {
  return {"v100",
          125 * kTera,
          {},
          {},
          32 * kGiga,
          900 * kGiga,
          80,
          6 * kMega,
          150 * kGiga,
          300,
          "NVIDIA V100 SXM2 data sheet, fp16 for bf16"};
}

DeviceSheet ampere(const char* name, double gigabytes, double memory_rate) {
  return {name, 312 * kTera, {},          {},  gigabytes * kGiga,           memory_rate * kGiga,
          108,  40 * kMega,  300 * kGiga, 400, "NVIDIA A100 SXM data sheet"};
}

DeviceSheet hopper(const char* name, double gigabytes, double memory_rate, const char* source) {
  return {name,        989.4 * kTera, 1978.9 * kTera, {}, gigabytes * kGiga, memory_rate * kGiga, 132, 50 * kMega,
          450 * kGiga, 700,           source};
}

DeviceSheet blackwell(const char* name, double bf16, double fp4, double gigabytes, std::int64_t multiprocessors,
                      double watts, const char* source) {
  return {name,         bf16 * kTera,    2 * bf16 * kTera, fp4 * kTera, gigabytes * kGiga,
          8000 * kGiga, multiprocessors, 126 * kMega,      900 * kGiga, watts,
          source};
}

/// Cards without NVLink: their link is that of PCIe.
DeviceSheet card(const char* name, double bf16, std::optional<double> fp8, std::optional<double> fp4, double gigabytes,
                 double memory_rate, std::int64_t multiprocessors, double cache, double link, double watts,
                 const char* source) {
  if (fp8) *fp8 *= kTera;
  if (fp4) *fp4 *= kTera;
  return {name,          bf16 * kTera, fp8,   fp4,   gigabytes * kGiga, memory_rate * kGiga, multiprocessors,
          cache * kMega, link * kGiga, watts, source};
}

DeviceSheet instinct(const char* name, double bf16, std::optional<double> fp4, double gigabytes, double memory_rate,
                     std::int64_t units, double link, double watts, const char* source) {
  if (fp4) *fp4 *= kTera;
  return {name,
          bf16 * kTera,
          2 * bf16 * kTera,
          fp4,
          gigabytes * kGiga,
          memory_rate * kGiga,
          units,
          256 * kMega,
          link * kGiga,
          watts,
          source};
}

NodeType node(const char* name, const char* device, std::int64_t devices, double rail_gigabits, std::int64_t linked,
              const char* source) {
  return {name, device, devices, devices, rail_gigabits / 8 * kGiga, linked, source};
}

}  // namespace

const std::vector<DeviceSheet>& all_device_sheets() {
  static const std::vector<DeviceSheet> sheets{
      volta(),
      ampere("a100-40", 40, 1555),
      ampere("a100-80", 80, 2039),
      hopper("h100", 80, 3350, "NVIDIA H100 SXM data sheet"),
      hopper("h200", 141, 4800, "NVIDIA H200 SXM data sheet"),
      blackwell("b200", 2250, 9000, 180, 148, 1000, "NVIDIA HGX B200 data sheet, per device"),
      blackwell("b300", 2250, 13500, 288, 160, 1100, "NVIDIA HGX B300 data sheet, per device"),
      blackwell("gb200", 2500, 10000, 186, 152, 1200, "NVIDIA GB200 NVL72 data sheet, per device"),
      blackwell("gb300", 2500, 15000, 288, 160, 1400, "NVIDIA GB300 NVL72 data sheet, per device"),
      card("h20", 148, 296, {}, 96, 4000, 78, 60, 450, 400, "NVIDIA H20 data sheet; links are NVLink"),
      card("h100-pcie", 756.5, 1513, {}, 80, 2000, 114, 50, 64, 350, "NVIDIA H100 PCIe data sheet; PCIe 5.0 x16"),
      card("h100-nvl", 835, 1671, {}, 94, 3900, 132, 50, 300, 400, "NVIDIA H100 NVL data sheet; bridged in pairs"),
      card("a100-pcie", 312, {}, {}, 80, 1935, 108, 40, 32, 300, "NVIDIA A100 PCIe 80 GB data sheet; PCIe 4.0 x16"),
      card("l40s", 362.05, 733, {}, 48, 864, 142, 96, 32, 350, "NVIDIA L40S data sheet; links are PCIe 4.0 x16"),
      card("l40", 181, 362, {}, 48, 864, 142, 96, 32, 300, "NVIDIA L40 data sheet; links are PCIe 4.0 x16"),
      card("l4", 121, 242, {}, 24, 300, 58, 48, 32, 72, "NVIDIA L4 data sheet; links are PCIe 4.0 x16"),
      card("a10", 125, {}, {}, 24, 600, 72, 6, 32, 150, "NVIDIA A10 data sheet; links are PCIe 4.0 x16"),
      card("rtx-pro-6000", 500, 1000, 2000, 96, 1597, 188, 128, 64, 600,
           "NVIDIA RTX PRO 6000 Blackwell Server Edition data sheet; links are PCIe 5.0 x16"),
      card("b60", 98.5, {}, {}, 24, 456, 20, 18, 32, 200, "Intel Arc Pro B60 data sheet; links are PCIe 5.0 x8"),
      instinct("mi300x", 1307.4, {}, 192, 5300, 304, 448, 750, "AMD Instinct MI300X data sheet"),
      instinct("mi325x", 1307.4, {}, 256, 6000, 304, 448, 1000, "AMD Instinct MI325X data sheet"),
      instinct("mi355x", 2516.6, 10066, 288, 8000, 256, 538, 1400, "AMD Instinct MI355X data sheet")};
  return sheets;
}

const std::vector<NodeType>& all_node_types() {
  static const std::vector<NodeType> nodes{
      node("dgx-a100-40", "a100-40", 8, 200, 8, "NVIDIA DGX A100 data sheet: 8 ConnectX-6 of 200 Gb/s"),
      node("dgx-a100-80", "a100-80", 8, 200, 8, "NVIDIA DGX A100 data sheet: 8 ConnectX-6 of 200 Gb/s"),
      node("dgx-h100", "h100", 8, 400, 8, "NVIDIA DGX H100 data sheet: 8 ConnectX-7 of 400 Gb/s"),
      node("dgx-h200", "h200", 8, 400, 8, "NVIDIA DGX H200 data sheet: 8 ConnectX-7 of 400 Gb/s"),
      node("dgx-b200", "b200", 8, 400, 8, "NVIDIA DGX B200 data sheet: 8 ConnectX-7 of 400 Gb/s"),
      node("dgx-b300", "b300", 8, 800, 8, "NVIDIA DGX B300 data sheet: 8 ConnectX-8 of 800 Gb/s"),
      node("gb200-nvl72", "gb200", 4, 400, 72, "NVIDIA GB200 NVL72 data sheet: trays of 4, 72 joined by NVLink"),
      node("gb300-nvl72", "gb300", 4, 800, 72, "NVIDIA GB300 NVL72 data sheet: trays of 4, 72 joined by NVLink"),
      node("l40s-8", "l40s", 8, 200, 8, "NVIDIA L40S reference servers: PCIe 4.0, no NVLink"),
      node("mi300x-8", "mi300x", 8, 400, 8, "AMD Instinct MI300X platform data sheet: 8 devices, 400 Gb/s each")};
  return nodes;
}

}  // namespace assay::predict
