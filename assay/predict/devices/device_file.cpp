#include <algorithm>
#include <cmath>

#include "assay/core/text/file.hpp"
#include "assay/core/text/naming.hpp"
#include "assay/predict/devices/device_laws.hpp"

namespace assay::predict {
namespace {

constexpr JsonLimits kDeviceLimits{.bytes = 4u << 20, .depth = 16, .values = 100'000};

/// Fitted to published tables; scripts/write-devices writes it again.
constexpr std::string_view kPublishedLaws =
#include "assay/predict/devices/published_laws.inc"
    ;

void check_law(const KernelLaw& law, const std::vector<LawConstantSpec>& specs, const std::string& what) {
  if (law.constants.size() != specs.size()) {
    fail(ErrorKind::bad_input, "{}: there are {} constants, and the law has {}. Fit the device again.", what,
         law.constants.size(), specs.size());
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto& one = law.constants[i];
    if (one.name != specs[i].name) {
      fail(ErrorKind::bad_input, "{}: constant {} is {}, not {}. Fit the device again.", what, i + 1, shown(one.name),
           specs[i].name);
    }
    if (!(std::isfinite(one.value) && one.value > 0)) {
      fail(ErrorKind::bad_input, "{}: {} is {}; it is a number above zero.", what, one.name, one.value);
    }
  }
  if (!(law.range >= 0 && law.range <= 10)) {
    fail(ErrorKind::bad_input, "{}: range is {}; it is from 0 to 10.", what, law.range);
  }
}

void check_device(const DeviceLaws& device) {
  if (device.version > kDeviceVersion) {
    fail(ErrorKind::bad_input, "it has version {}, and this program reads up to {}. Use a newer assay.", device.version,
         kDeviceVersion);
  }
  check(device.sheet);
  for (const auto& [type, law] : device.products) check_law(law, product_constants(), "products." + type);
  if (device.prefill) check_law(*device.prefill, prefill_constants(), "prefill");
  if (device.decode) check_law(*device.decode, decode_constants(), "decode");
  for (const auto& one : device.collectives) {
    check_law(one.law, collective_constants(), fmt::format("{} of {}", name_of(one.collective), one.devices));
    if (one.devices < 2) fail(ErrorKind::bad_input, "collectives: devices is {}; it is 2 or more.", one.devices);
  }
}

std::vector<DeviceLaws> devices_in(std::string_view text) {
  auto found = from_json<std::vector<DeviceLaws>>(parse_json(text, kDeviceLimits), "devices");
  for (const auto& one : found) check_device(one);
  return found;
}

}  // namespace

DeviceLaws parse_device(std::string_view text, const std::string& name) {
  return naming(name, [&] {
    auto device = from_json<DeviceLaws>(parse_json(text, kDeviceLimits), "device");
    check_device(device);
    return device;
  });
}

DeviceLaws read_device(const std::string& path) {
  return parse_device(read_file(path, kDeviceLimits.bytes), path);
}

DeviceSheet read_sheet(const std::string& path) {
  return naming(path, [&] {
    const auto document = parse_json(read_file(path, kDeviceLimits.bytes), kDeviceLimits);
    const bool whole = document.is_object() && document.contains("sheet");
    auto sheet = from_json<DeviceSheet>(whole ? document.at("sheet") : document, "sheet");
    check(sheet);
    return sheet;
  });
}

const std::vector<DeviceLaws>& known_devices() {
  static const std::vector<DeviceLaws> devices = [] {
    auto fitted = devices_in(kPublishedLaws);
    std::vector<DeviceLaws> all;
    for (const auto& sheet : all_device_sheets()) {
      const auto own =
          std::find_if(fitted.begin(), fitted.end(), [&](const auto& one) { return one.sheet.name == sheet.name; });
      DeviceLaws device;
      if (own != fitted.end()) device = *own;
      device.sheet = sheet;
      all.push_back(completed(device, fitted));
    }
    return all;
  }();
  return devices;
}

DeviceLaws find_device(const std::string& named) {
  if (named.ends_with(".json")) return completed(read_device(named), known_devices());
  const auto& sheet = device_sheet(named);
  for (const auto& one : known_devices()) {
    if (one.sheet.name == sheet.name) return one;
  }
  ASSAY_CHECK(false);
  return {};
}

}  // namespace assay::predict
