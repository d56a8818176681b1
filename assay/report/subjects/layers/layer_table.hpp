#pragma once

#include "assay/predict/layers.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// A table of layers that was read from a profile: what it comes to, the layers that take longest, and its ranks.
Document layer_table_document(const predict::LayerTable& table);

}  // namespace assay::report
