#pragma once

#include <array>

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

/// The same for many products of one type on one device: what depends on those alone is worked out once.
class ProductTimes {
 public:
  ProductTimes(const DeviceSheet& sheet, const std::vector<double>& constants, ProductType type);
  double seconds(double m, double n, double k) const;

 private:
  static constexpr std::size_t kTileShapes = 5;
  double compute_seconds(double m, double n, double k) const;
  double memory_seconds(double m, double n, double k) const;

  ProductType type_;
  double units_ = 0;
  double narrow_ = 1;                            ///< rows of a tile here, over those of the same tile on a GPU
  std::array<double, kTileShapes> tile_rate_{};  ///< FLOPs a second of one unit, for each shape of tiles
  double waves_ = 0;
  double depth_ = 0;
  double fixed_seconds_ = 0;
  double norm_ = 1;
  double memory_rate_ = 0;
  double cached_rate_ = 0;
  double cache_bytes_ = 0;
  double quantise_ = 0;  ///< seconds for each value of the inputs
};

/// A time that no device beats: all FLOPs at the peak, or all bytes at the bandwidth.
double product_roofline(const ProductWork& work, const DeviceSheet& sheet);

/// Rows of one device and type.
KernelLaw fit_products(const std::vector<ProductWork>& works, const std::vector<double>& seconds,
                       const DeviceSheet& sheet, const std::string& source);

/// The whole of the data sheet.
KernelLaw data_sheet_product_law();

}  // namespace assay::predict
