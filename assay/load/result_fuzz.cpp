#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/core/error.hpp"
#include "assay/load/result_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto read : {assay::load::result_sources::read_aiperf, assay::load::result_sources::read_guidellm}) {
    try {
      (void)read(text);
    } catch (const assay::Error&) {
    }
  }
  return 0;
}
