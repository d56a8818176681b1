#include <cmath>
#include <cstddef>
#include <cstdint>

#include "assay/model/link_source.hpp"

/// Any bytes either read as points within their ranges, in each format, or raise Error. The first byte says what is
/// known beside the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  model::LinkRequest request{"fuzz", std::nullopt, std::nullopt};
  if ((data[0] & 1) != 0) request.ranks = 4;
  if ((data[0] & 2) != 0) request.collective = model::Collective::broadcast;
  for (const auto* source : model::all_link_sources()) {
    try {
      for (const auto& point : model::import_points(*source, text, request)) {
        ASSAY_CHECK(point.ranks >= 2 && point.bytes >= 0 && std::isfinite(point.bytes));
        ASSAY_CHECK(point.seconds > 0 && std::isfinite(point.seconds));
      }
    } catch (const Error&) {
    }
  }
  return 0;
}
