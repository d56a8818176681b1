#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/report/site/manifest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::report::site;
  try {
    const auto manifest = parse_manifest({reinterpret_cast<const char*>(data), size});
    // What was read is written and read again.
    ASSAY_CHECK(parse_manifest(manifest_text(manifest)).size() == manifest.size());
  } catch (const assay::Error&) {
  }
  return 0;
}
