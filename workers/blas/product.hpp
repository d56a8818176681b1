#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/core/workload.hpp"
#include "workers/blas/library.hpp"

namespace assay::blas {

/// Values of a matrix by name ("a", "b"), the last dimension running fastest: drawn, or chosen by a test.
using Source = std::function<std::vector<float>(const std::string& name, const std::vector<std::int64_t>& shape)>;

/// Throws worker::Refused by name where it is not a product in fp32, or too large for integers of 32 bits.
Shape shape_of(const Workload& workload);

/// A product of fixed matrices, ready to run.
class Product {
 public:
  Product(Library library, const Shape& shape, const Source& source);

  /// Computes it once; returns when all is done.
  void run() { library_.multiply(shape_, a_.get(), b_.get(), c_.get()); }
  std::vector<float> result() const;

  /// Holds what the last run computed to plain sums at 64 places. Throws worker::Refused where one is further off than
  /// rounding explains.
  void check() const;

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  using Matrix = std::unique_ptr<float[], Free>;

  static Matrix allocate(std::size_t elements);
  Matrix filled(const char* name, const std::vector<std::int64_t>& shape, const Source& source) const;

  Library library_;
  Shape shape_;
  Matrix a_, b_, c_;
};

/// Holds a small product of whole numbers, which is exact in any order of its sums, to plain loops. Throws
/// worker::Refused where they differ.
void check_small_product(const Library& library);

}  // namespace assay::blas
