#include "assay/predict/devices/device_sheet.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace assay::predict {
namespace {

/// Letters and digits in lower case: "H100_SXM" and "h100-sxm" are one name.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) plain += static_cast<char>(std::tolower(letter));
  }
  return plain;
}

/// A word that such a name contains, and its sheet. The first that fits counts, so the longer words are first.
constexpr std::array<std::pair<const char*, const char*>, 23> kNames{
    {{"gb300", "gb300"},        {"gb200", "gb200"},
     {"b300", "b300"},          {"b200", "b200"},
     {"gh200", "h200"},         {"h200", "h200"},
     {"h100pcie", "h100-pcie"}, {"h100nvl", "h100-nvl"},
     {"h100", "h100"},          {"h20", "h20"},
     {"l40s", "l40s"},          {"l40", "l40"},
     {"mi355", "mi355x"},       {"mi325", "mi325x"},
     {"mi300", "mi300x"},       {"a10040", "a100-40"},
     {"a100sxm440", "a100-40"}, {"a100pcie40", "a100-40"},
     {"a100pcie", "a100-pcie"}, {"a100", "a100-80"},
     {"v100", "v100"},          {"rtxpro6000", "rtx-pro-6000"},
     {"arcprob60", "b60"}}};

/// Names so short that they are the whole of it, or parts of other words.
constexpr std::array<std::pair<const char*, const char*>, 6> kWholeNames{
    {{"l4", "l4"}, {"nvidial4", "l4"}, {"a10", "a10"}, {"nvidiaa10", "a10"}, {"a10g", "a10"}, {"b60", "b60"}}};

const DeviceSheet* sheet_called(std::string_view name) {
  for (const auto& sheet : all_device_sheets()) {
    if (sheet.name == name) return &sheet;
  }
  return nullptr;
}

}  // namespace

double weight_bytes(ProductType type) {
  switch (type) {
    case ProductType::bf16:
      return 2;
    case ProductType::fp8:
    case ProductType::int8:
      return 1;
    case ProductType::fp4:
      return 0.5 + 1.0 / 16;
    case ProductType::int4:
      return 0.5 + 2.0 / 128;
  }
  return 2;
}

double DeviceSheet::peak(ProductType type) const {
  const double fp8 = fp8_flops_per_second.value_or(bf16_flops_per_second);
  if (type == ProductType::fp8) return fp8;
  if (type == ProductType::fp4) return fp4_flops_per_second.value_or(fp8);
  return bf16_flops_per_second;
}

void check(const DeviceSheet& sheet) {
  const auto wrong = [&](const char* field, double value) {
    if (std::isfinite(value) && value > 0) return;
    fail(ErrorKind::bad_input, "the sheet of device {}: {} is {}; it is a number above zero.", shown(sheet.name), field,
         value);
  };
  wrong("bf16_flops_per_second", sheet.bf16_flops_per_second);
  wrong("fp8_flops_per_second", sheet.fp8_flops_per_second.value_or(1));
  wrong("fp4_flops_per_second", sheet.fp4_flops_per_second.value_or(1));
  wrong("memory_bytes", sheet.memory_bytes);
  wrong("memory_bytes_per_second", sheet.memory_bytes_per_second);
  wrong("multiprocessors", static_cast<double>(sheet.multiprocessors));
  wrong("cache_bytes", sheet.cache_bytes);
  wrong("link_bytes_per_second", sheet.link_bytes_per_second);
  wrong("watts", sheet.watts);
  wrong("tile_rows", sheet.tile_rows);
}

const DeviceSheet* find_device_sheet(std::string_view name) {
  if (name.ends_with(".json")) return nullptr;  // a device file, whatever it is called
  const auto plain = plain_name(name);
  for (const auto& [word, sheet_name] : kNames) {
    if (plain.find(word) != std::string::npos) return sheet_called(sheet_name);
  }
  for (const auto& [whole, sheet_name] : kWholeNames) {
    if (plain == whole) return sheet_called(sheet_name);
  }
  return nullptr;
}

const DeviceSheet& device_sheet(std::string_view name) {
  if (const auto* found = find_device_sheet(name)) return *found;
  std::vector<std::string> names;
  for (const auto& sheet : all_device_sheets()) names.push_back(sheet.name);
  fail(ErrorKind::usage,
       "the device {} is not in the catalogue. It has {}. Another one is a device file: assay fit --kernels TABLE.csv "
       "--device SHEET.json --out DEVICE.json",
       shown(std::string(name)), fmt::join(names, ", "));
}

}  // namespace assay::predict
