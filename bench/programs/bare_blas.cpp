// The blas worker's steps beside cblas_sgemm called bare, in one process and in turns; turns.hpp says what is printed.
//   bare_blas ROUNDS MILLISECONDS wall|cpu FILE
// FILE is a library as dlopen takes it, such as libopenblas.so.0.
#include <dlfcn.h>

#include <iostream>

#include "bench/programs/turns.hpp"
#include "workers/blas/product.hpp"

namespace {

using assay::blas::Shape;

constexpr int kRowMajor = 101;
constexpr int kNotTransposed = 111;

constexpr float kValue = 1.0F / 64;

using Matrix = std::unique_ptr<float, decltype(&std::free)>;

/// From the beginning of a cache line, as people allocate for such libraries. Rows and columns are multiples of 16.
Matrix matrix(int rows, int columns) {
  const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  Matrix made(static_cast<float*>(std::aligned_alloc(64, count * sizeof(float))), std::free);
  std::fill_n(made.get(), count, kValue);
  return made;
}

void run(const Shape& shape, assay::blas::Sgemm* multiply, const std::string& file, const bench::Turns& turns) {
  const int m = shape.m, n = shape.n, k = shape.k;
  assay::blas::Product product(assay::blas::Library::open(file, ""), shape, [&](const auto&, const auto& sizes) {
    std::size_t count = 1;
    for (const auto size : sizes) count *= static_cast<std::size_t>(size);
    return std::vector<float>(count, kValue);
  });
  const auto a = matrix(m, k), b = matrix(k, n), c = matrix(m, n);
  turns.print(
      "gemm " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k), [&] { product.run(); },
      [&] { multiply(kRowMajor, kNotTransposed, kNotTransposed, m, n, k, 1, a.get(), k, b.get(), n, 0, c.get(), n); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: bare_blas ROUNDS MILLISECONDS wall|cpu FILE\n";
    return 2;
  }
  void* const library = dlopen(argv[4], RTLD_NOW | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : dlsym(library, "cblas_sgemm");
  if (found == nullptr) {
    std::cerr << "bare_blas: " << argv[4] << ": " << dlerror() << "\n";
    return 1;
  }
  const bench::Turns turns(argv[1], argv[2], argv[3]);
  for (const auto& shape : {Shape{1, 512, 512, 512}, Shape{1, 128, 3072, 768}, Shape{1, 128, 768, 768}})
    run(shape, reinterpret_cast<assay::blas::Sgemm*>(found), argv[4], turns);
}
