#pragma once

namespace assay {

/// Of this build, such as "1.0.0". One source alone knows it, so that a new version does not compile all others again.
extern const char* const kVersion;

}  // namespace assay
