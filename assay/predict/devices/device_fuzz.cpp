#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/predict/devices/device_laws.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace predict = assay::predict;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    static_cast<void>(predict::parse_device(text, "device"));
  } catch (const assay::Error&) {
  }
  try {
    static_cast<void>(predict::parse_kernel_table(text, "kernels"));
  } catch (const assay::Error&) {
  }
  return 0;
}
