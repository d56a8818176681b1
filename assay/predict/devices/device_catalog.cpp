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

DeviceSheet ada() {
  return {"l40s",
          362.05 * kTera,
          733 * kTera,
          {},
          48 * kGiga,
          864 * kGiga,
          142,
          96 * kMega,
          32 * kGiga,
          350,
          "NVIDIA L40S data sheet; links are PCIe 4.0 x16"};
}

DeviceSheet instinct() {
  return {"mi300x",
          1307.4 * kTera,
          2614.9 * kTera,
          {},
          192 * kGiga,
          5300 * kGiga,
          304,
          256 * kMega,
          448 * kGiga,
          750,
          "AMD Instinct MI300X data sheet"};
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
      ada(),
      instinct()};
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
