#include "assay/core/version.hpp"

namespace assay {

const char* const kVersion = ASSAY_VERSION;

}  // namespace assay
