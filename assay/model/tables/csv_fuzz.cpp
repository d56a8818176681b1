#include <cstdint>
#include <string_view>

#include "assay/model/tables/frame.hpp"

/// Whatever the text, a frame or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  try {
    const auto frame = model::parse_csv({reinterpret_cast<const char*>(data), size}, "input");
    model::Columns columns;
    columns.time = frame.columns.back();
    static_cast<void>(model::groups_of(frame, columns));
  } catch (const Error&) {
  }
  return 0;
}
