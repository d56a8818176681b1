#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/predict/cluster.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(
        assay::predict::parse_cluster(std::string_view(reinterpret_cast<const char*>(data), size), "c.yaml"));
  } catch (const assay::Error&) {
  }
  return 0;
}
