#include "assay/core/replay.hpp"

#include <cstddef>

/// Any bytes either read as a replay that writes and reads back the same, or raise Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  try {
    const auto replay = parse_replay({reinterpret_cast<const char*>(data), size}, "replay");
    const json written = to_json(replay);
    ASSAY_CHECK(to_json(parse_replay(written.dump(), "again")).dump() == written.dump());
  } catch (const Error&) {
  }
  return 0;
}
