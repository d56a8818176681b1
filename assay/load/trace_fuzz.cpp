#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/load/queries/schedule.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    assay::load::parse_trace({reinterpret_cast<const char*>(data), size});
  } catch (const assay::Error&) {
  }
  return 0;
}
