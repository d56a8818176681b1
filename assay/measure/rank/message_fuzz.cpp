#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/measure/rank/message.hpp"

/// Any lines from a worker are either taken within the limits or raise Error: never a crash, never more samples than
/// asked.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  using namespace assay::measure;
  constexpr std::int64_t kMostSamples = 100;
  if (size == 0) return 0;
  const std::string detail = data[0] % 3 == 0 ? "step" : data[0] % 3 == 1 ? "phases" : "layers";
  std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  Measured measured;
  try {
    while (!text.empty()) {
      const auto end = text.find('\n');
      const json message = parse_message(text.substr(0, end));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
      const std::string type = message_type(message);
      if (type == "prepared") read_prepared(message);
      if (type == "error") read_error(message);
      if (type == "samples" || type == "layers") add_samples(message, detail, kMostSamples, measured);
      if (type == "done") finish(message, detail, measured);
      ASSAY_CHECK(measured.samples_ns.size() <= kMostSamples);
    }
  } catch (const Error&) {
  }
  return 0;
}
