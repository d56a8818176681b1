#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/predict/calibration/calibrated_rows.hpp"
#include "assay/predict/calibration/score.hpp"

namespace {

/// What is refused must be refused by an Error.
template <typename Read>
void read_or_refuse(const Read& read) {
  try {
    static_cast<void>(read());
  } catch (const assay::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace predict = assay::predict;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_or_refuse([&] { return predict::parse_layers(text, "layers", 1); });
  read_or_refuse([&] { return predict::parse_truths(text, "published", {}); });
  read_or_refuse([&] { return predict::parse_measured_steps(text, "rows"); });
  return 0;
}
