#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/predict/layer_sources/kineto_ranks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    static_cast<void>(assay::predict::layer_sources::kineto.read(text, "trace", 1));
  } catch (const assay::Error&) {
  }
  try {
    static_cast<void>(assay::predict::joined_layers({assay::predict::rank_steps(text, "rank", 1)}));
  } catch (const assay::Error&) {
  }
  try {
    static_cast<void>(assay::predict::parse_layer_json(text, "layers"));
  } catch (const assay::Error&) {
  }
  return 0;
}
