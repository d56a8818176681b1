#include "workers/blas/product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "assay/core/primitive.hpp"
#include "workers/common/worker.hpp"

namespace assay::blas {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr int kPlaces = 64;

PrimitiveOptions options_of(const Workload& workload) {
  try {
    return primitive_options(*find_primitive(workload.network), workload);
  } catch (const Error& error) {
    throw worker::Refused(error.what());
  }
}

int narrow(const std::string& name, std::int64_t value) {
  if (value > std::numeric_limits<int>::max())
    worker::refuse("{} {}: CBLAS counts in integers of 32 bits here. Use less than 2^31.", name, value);
  return static_cast<int>(value);
}

std::size_t product_of(std::initializer_list<int> sizes) {
  std::size_t all = 1;
  for (const int size : sizes) {
    if (__builtin_mul_overflow(all, static_cast<std::size_t>(size), &all)) throw std::bad_alloc();
  }
  return all;
}

/// Whole numbers from -3 to 3.
std::vector<float> whole_numbers(std::size_t count, unsigned state) {
  std::vector<float> values(count);
  for (auto& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<int>((state >> 16U) % 7U) - 3);
  }
  return values;
}

}  // namespace

Shape shape_of(const Workload& workload) {
  const bool is_batched = workload.network == "batched_gemm";
  if (!is_batched && workload.network != "gemm")
    worker::refuse("network {}: there is only gemm and batched_gemm here.", shown(workload.network));
  if (workload.precision != "fp32")
    worker::refuse("precision {}: {} has only fp32 here.", shown(workload.precision), workload.network);
  const auto options = options_of(workload);
  const Shape shape{is_batched ? narrow("batch", workload.batch) : 1, narrow("m", options.at("m")),
                    narrow("n", options.at("n")), narrow("k", options.at("k"))};
  constexpr std::size_t kMostStride = std::numeric_limits<int>::max();
  for (const auto stride :
       {product_of({shape.m, shape.k}), product_of({shape.k, shape.n}), product_of({shape.m, shape.n})}) {
    if (is_batched && stride > kMostStride)
      worker::refuse("a matrix of {} values: CBLAS counts in integers of 32 bits here. Use smaller ones.", stride);
  }
  return shape;
}

Product::Matrix Product::allocate(std::size_t elements) {
  if (elements > std::numeric_limits<std::size_t>::max() / 2 / sizeof(float)) throw std::bad_alloc();
  const std::size_t lines = (elements * sizeof(float) + kLineBytes - 1) / kLineBytes;
  Matrix made(static_cast<float*>(std::aligned_alloc(kLineBytes, lines * kLineBytes)));
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

Product::Matrix Product::filled(const char* name, const std::vector<std::int64_t>& shape, const Source& source) const {
  const auto values = source(name, shape);
  auto made = allocate(values.size());
  std::copy(values.begin(), values.end(), made.get());
  return made;
}

Product::Product(Library library, const Shape& shape, const Source& source)
    : library_(std::move(library)), shape_(shape), c_(allocate(product_of({shape.batch, shape.m, shape.n}))) {
  const std::vector<std::int64_t> batch =
      shape.batch == 1 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{shape.batch};
  const auto with_batch = [&](std::int64_t rows, std::int64_t columns) {
    auto sizes = batch;
    sizes.insert(sizes.end(), {rows, columns});
    return sizes;
  };
  a_ = filled("a", with_batch(shape.m, shape.k), source);
  b_ = filled("b", with_batch(shape.k, shape.n), source);
}

std::vector<float> Product::result() const {
  return {c_.get(), c_.get() + product_of({shape_.batch, shape_.m, shape_.n})};
}

// A sum of k products, added up in any order, is off by at most k u times the sum of their magnitudes, with u = 2^-24
// (Higham, Accuracy and Stability of Numerical Algorithms, 3.1); one k more for the rounding of each product.
void Product::check() const {
  const auto m = static_cast<std::size_t>(shape_.m), n = static_cast<std::size_t>(shape_.n);
  const auto k = static_cast<std::size_t>(shape_.k), all = static_cast<std::size_t>(shape_.batch) * m * n;
  for (int place = 0; place < kPlaces; ++place) {
    // Spread over the whole result, first and last included.
    const auto at = static_cast<std::size_t>(static_cast<double>(all - 1) * place / (kPlaces - 1));
    const auto sample = at / (m * n), row = at / n % m, column = at % n;
    const float* const a = a_.get() + (sample * m + row) * k;
    const float* const b = b_.get() + sample * k * n + column;
    double sum = 0, magnitude = 0;
    for (std::size_t l = 0; l < k; ++l) {
      const double term = double{a[l]} * double{b[l * n]};
      sum += term;
      magnitude += std::abs(term);
    }
    const double bound = 2 * static_cast<double>(k) * magnitude * std::ldexp(1.0, -24);
    if (std::abs(c_[at] - sum) <= bound) continue;
    worker::refuse(
        "BLAS_LIBRARY {}: its product is wrong: {} at row {}, column {} of matrix {}, where plain sums give {}.",
        shown_path(library_.name()), c_[at], row, column, sample, sum);
  }
}

void check_small_product(const Library& library) {
  constexpr std::size_t kM = 5, kN = 7, kK = 33;
  const auto a = whole_numbers(kM * kK, 1), b = whole_numbers(kK * kN, 2);
  std::vector<float> found(kM * kN, -1);
  library.multiply({1, kM, kN, kK}, a.data(), b.data(), found.data());
  for (std::size_t at = 0; at < found.size(); ++at) {
    float wanted = 0;
    for (std::size_t l = 0; l < kK; ++l) wanted += a[at / kN * kK + l] * b[l * kN + at % kN];
    if (found[at] == wanted) continue;
    worker::refuse(
        "BLAS_LIBRARY {}: its product is wrong: of 5 x 33 and 33 x 7 whole numbers it computes {} where plain "
        "loops give {}.",
        shown_path(library.name()), found[at], wanted);
  }
}

}  // namespace assay::blas
