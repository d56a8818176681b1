#include "assay/predict/devices/product_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace assay::predict {
namespace {

/// Where each constant is.
struct ProductAt {
  enum : std::size_t { efficiency, bandwidth, fixed, cached, depth, small_tiles, norm, waves, quantise };
};

struct Tile {
  double rows;
  double columns;
};
constexpr std::array kTiles{Tile{64, 64}, Tile{64, 128}, Tile{128, 128}, Tile{128, 256}, Tile{256, 128}};
constexpr double kLargestTile = 128 * 256;
constexpr double kLeastSplitDepth = 512;
constexpr double kCacheShare = 0.5;    // of the cache that a product's bytes can count on
constexpr double kQuantisePasses = 3;  // a read of 2 bytes and a write of 1

bool is_quantised(ProductType type) {
  return type == ProductType::fp8 || type == ProductType::fp4;
}

double input_bytes(ProductType type) {
  return is_quantised(type) ? weight_bytes(type) : 2;
}

}  // namespace

double flops_of(const ProductWork& work) {
  return 2 * work.m * work.n * work.k;
}

double bytes_of(const ProductWork& work) {
  return work.m * work.k * input_bytes(work.type) + work.k * work.n * weight_bytes(work.type) + 2 * work.m * work.n;
}

const std::vector<LawConstantSpec>& product_constants() {
  static const std::vector<LawConstantSpec> constants{
      {"efficiency", "share of the peak that full tiles reach", 0.75, 0.2, 1.2},
      {"bandwidth", "share of the memory's bandwidth", 0.85, 0.3, 1.2},
      {"fixed_us", "microseconds that every product takes", 4, 0.3, 60},
      {"cached", "how much faster bytes are that stay in the cache", 0.5, 1e-3, 20},
      {"depth", "steps along k that starting and ending a tile costs", 200, 1, 4000},
      {"small_tiles", "exponent by which small tiles are slower", 0.3, 1e-3, 1.5},
      {"norm", "how sharply the larger of compute and memory counts", 4, 1, 20},
      {"waves", "share of a last wave that is not full and yet counts", 0.8, 0.02, 1},
      {"quantise", "passes over the inputs to make them narrow, as multiples of their bytes", 1.5, 0.05, 40}};
  return constants;
}

ProductTimes::ProductTimes(const DeviceSheet& sheet, const std::vector<double>& c, ProductType type)
    : type_(type),
      units_(static_cast<double>(sheet.multiprocessors)),
      narrow_(sheet.tile_rows / kTiles.front().rows),
      waves_(c[ProductAt::waves]),
      depth_(c[ProductAt::depth]),
      fixed_seconds_(1e-6 * c[ProductAt::fixed]),
      norm_(c[ProductAt::norm]),
      memory_rate_(sheet.memory_bytes_per_second * c[ProductAt::bandwidth]),
      cached_rate_(memory_rate_ * (1 + c[ProductAt::cached])),
      cache_bytes_(kCacheShare * sheet.cache_bytes) {
  static_assert(kTiles.size() == kTileShapes);
  const double rate = sheet.peak(type) * c[ProductAt::efficiency] / units_;
  for (std::size_t i = 0; i < kTiles.size(); ++i) {
    const double part = kTiles[i].rows * kTiles[i].columns / kLargestTile;
    tile_rate_[i] = rate * std::pow(part, c[ProductAt::small_tiles]);
  }
  if (is_quantised(type)) quantise_ = c[ProductAt::quantise] * kQuantisePasses / sheet.memory_bytes_per_second;
}

double ProductTimes::compute_seconds(double m, double n, double k) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kTiles.size(); ++i) {
    const Tile tile{kTiles[i].rows * narrow_, kTiles[i].columns};
    const double tiles = std::ceil(m / tile.rows) * std::ceil(n / tile.columns);
    const double full = tiles / units_;
    const double counted = full < 1 ? 1 : full + (std::ceil(full) - full) * waves_;
    const double split =
        full > .5 ? 1 : std::clamp(std::floor(units_ / tiles), 1.0, std::max(1.0, k / kLeastSplitDepth));
    const double flops = 2 * tile.rows * tile.columns * (k / split + depth_);
    least = std::min(least, counted * flops / tile_rate_[i]);
  }
  return least;
}

double ProductTimes::memory_seconds(double m, double n, double k) const {
  const double bytes = bytes_of({m, n, k, type_});
  const double part = bytes / cache_bytes_;
  const double inside = 1 / (1 + part * part);
  return bytes * (inside / cached_rate_ + (1 - inside) / memory_rate_);
}

double ProductTimes::seconds(double m, double n, double k) const {
  const double compute = compute_seconds(m, n, k);
  const double memory = memory_seconds(m, n, k);
  const double larger = std::max(compute, memory);
  const double smaller = std::min(compute, memory) / larger;
  return fixed_seconds_ + larger * std::pow(1 + std::pow(smaller, norm_), 1 / norm_) + quantise_ * m * k;
}

double product_seconds(const ProductWork& work, const DeviceSheet& sheet, const std::vector<double>& c) {
  return ProductTimes(sheet, c, work.type).seconds(work.m, work.n, work.k);
}

double product_roofline(const ProductWork& work, const DeviceSheet& sheet) {
  return std::max(flops_of(work) / sheet.peak(work.type), bytes_of(work) / sheet.memory_bytes_per_second);
}

KernelLaw fit_products(const std::vector<ProductWork>& works, const std::vector<double>& seconds,
                       const DeviceSheet& sheet, const std::string& source) {
  LawFit fit;
  fit.constants = product_constants();
  fit.starts = {{{ProductAt::depth, 50}, {ProductAt::norm, 1.5}},
                {{ProductAt::depth, 50}, {ProductAt::norm, 4}},
                {{ProductAt::depth, 600}, {ProductAt::norm, 1.5}},
                {{ProductAt::depth, 600}, {ProductAt::norm, 4}}};
  fit.seconds = [&](const std::vector<double>& c, std::size_t row) { return product_seconds(works[row], sheet, c); };
  fit.measured = seconds;
  fit.source = source;
  return fit_law(fit);
}

KernelLaw data_sheet_product_law() {
  return data_sheet_law(product_constants(), {1, 1, 1e-3, 1e-3, 1e-3, 1e-3, 20, 1, 1});
}

}  // namespace assay::predict
