#pragma once

#include "assay/predict/devices/kernel_law.hpp"

namespace assay::predict {

/// (m x k) times (k x n); the second factor is the weights.
struct ProductWork {
  double m = 0;
  double n = 0;
  double k = 0;
  ProductType type = ProductType::bf16;
};

double flops_of(const ProductWork& work);
double bytes_of(const ProductWork& work);  ///< both factors once, and a result of 2 bytes an element

const std::vector<LawConstantSpec>& product_constants();

/// A fixed time, for narrow types a pass that quantises the inputs, and a norm of compute and memory. Compute: the best
/// of five tiles, whose waves over the multiprocessors are half real and half rounded up; a product of few tiles splits
/// k. Memory: bytes at a share of the bandwidth, more of it where they stay in the cache.
double product_seconds(const ProductWork& work, const DeviceSheet& sheet, const std::vector<double>& constants);

/// A time that no device beats: all FLOPs at the peak, or all bytes at the bandwidth.
double product_roofline(const ProductWork& work, const DeviceSheet& sheet);

/// Rows of one device and type.
KernelLaw fit_products(const std::vector<ProductWork>& works, const std::vector<double>& seconds,
                       const DeviceSheet& sheet, const std::string& source);

/// The whole of the data sheet.
KernelLaw data_sheet_product_law();

}  // namespace assay::predict
