#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/predict/training/training_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(
        assay::predict::parse_training(std::string_view(reinterpret_cast<const char*>(data), size), "t.yaml"));
  } catch (const assay::Error&) {
  }
  return 0;
}
