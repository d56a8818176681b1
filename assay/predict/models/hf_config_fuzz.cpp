#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/predict/models/hf_config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto shape =
        assay::predict::parse_hf_config(std::string_view(reinterpret_cast<const char*>(data), size), "config.json");
    static_cast<void>(assay::predict::layer_counts(shape));
  } catch (const assay::Error&) {
  }
  return 0;
}
