#include <cstdint>
#include <string_view>

#include "assay/core/error.hpp"
#include "assay/predict/serving/serving_row.hpp"

// A table of served points is read or refused with an Error, and every row of it is predicted or has a reason.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(assay::predict::parse_serving_rows({reinterpret_cast<const char*>(data), size}, "rows.csv"));
  } catch (const assay::Error&) {
  }
  return 0;
}
