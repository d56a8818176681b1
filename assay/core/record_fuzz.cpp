#include <cstddef>
#include <cstdint>

#include "assay/core/record.hpp"

/// Any bytes either read as a record that writes and reads back the same, or raise Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  try {
    const auto record = from_json<Record>(parse_json({reinterpret_cast<const char*>(data), size}), "record");
    check(record);
    const json again = to_json(from_json<Record>(to_json(record)));
    ASSAY_CHECK(again.dump() == to_json(record).dump());
  } catch (const Error&) {
  }
  return 0;
}
