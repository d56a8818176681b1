#include <cstddef>
#include <cstdint>

#include "assay/core/error.hpp"
#include "workers/common/values.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  try {
    for (const auto& [name, placed] : assay::worker::read_header(file)) {
      const assay::worker::Value value{placed.type, placed.shape, nullptr};
      if (placed.begin > size || value.bytes() > size - placed.begin) __builtin_trap();  // it would be read outside
    }
  } catch (const assay::Error&) {
  }
  return 0;
}
