#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/core/error.hpp"
#include "assay/predict/traces/trace_explanation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    static_cast<void>(assay::predict::explain_traces({assay::predict::read_gpu_trace(bytes, "trace")}, {}, 2));
  } catch (const assay::Error&) {
  }
  return 0;
}
