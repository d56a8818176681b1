#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/predict/step/row_map.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(
        assay::predict::parse_row_map(std::string_view(reinterpret_cast<const char*>(data), size), "map.json"));
  } catch (const assay::Error&) {
  }
  return 0;
}
