#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/predict/layer_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(
        assay::predict::layer_sources::chakra.read({reinterpret_cast<const char*>(data), size}, "trace", 1));
  } catch (const assay::Error&) {
  }
  return 0;
}
