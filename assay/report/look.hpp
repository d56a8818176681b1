#pragma once

#include <cstddef>

namespace assay::report {

/// How a terminal can be written to.
struct Look {
  std::size_t width = 0;  ///< columns; 0: nothing is shortened
  bool blocks = true;     ///< it shows block characters
  bool colour = false;    ///< it takes escape codes
};

}  // namespace assay::report
