#pragma once

#include <string_view>

namespace assay::libtorch {

/// digits.txt of workers/common, which CMake puts into the module: one file less to be found beside it.
extern const std::string_view kDigitsText;

}  // namespace assay::libtorch
