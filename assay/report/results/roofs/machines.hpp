#pragma once

#include "assay/model/tables/measured.hpp"

namespace assay::report {

/// What a store knows of its machines: the fastest gemm at any precision and the fastest triad, and of links the
/// constants that the collectives measured there give. Where several workers measured them, the fit with the least
/// error counts.
model::Machines known_machines(store::Archive& store);

}  // namespace assay::report
