#pragma once

#include <cstdint>

namespace assay {

/// Of what Assay and workers say to each other: workers/PROTOCOL.md.
constexpr std::int64_t kProtocolVersion = 1;

}  // namespace assay
