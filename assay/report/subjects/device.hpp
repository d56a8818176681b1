#pragma once

#include "assay/predict/devices/device_laws.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// A device's data sheet and the laws of its kernels: what each rests on, how far off it was, its constants.
Document device_document(const predict::DeviceLaws& device);

}  // namespace assay::report
