#pragma once

#include "assay/store/store.hpp"

namespace assay::compare {

/// Whether a run ended well and gave a time.
inline bool gave_time(const store::RunRow& row) {
  return row.outcome == OutcomeKind::ok && row.summary.median_ns && *row.summary.median_ns > 0;
}

}  // namespace assay::compare
