#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace assay::blas {

/// As CBLAS declares it, with integers of 32 bits.
using Sgemm = void(int layout, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float* a,
                   int lda, const float* b, int ldb, float beta, float* c, int ldc);
/// Of MKL: `count` products at fixed distances.
using SgemmStrided = void(int layout, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                          const float* a, int lda, int stride_a, const float* b, int ldb, int stride_b, float beta,
                          float* c, int ldc, int stride_c, int count);

/// `batch` products of m x k and k x n.
struct Shape {
  int batch = 1;
  int m = 0;
  int n = 0;
  int k = 0;
};

/// A library of matrix products, loaded when it is asked for and for the life of the process.
class Library {
 public:
  /// `asked`: eigen, openblas, blis, mkl, or a file as dlopen takes it. `folder`: where the modules of Eigen are.
  /// Throws worker::Refused, with the command that installs it, where it cannot be loaded or has no cblas_sgemm.
  static Library open(const std::string& asked, const std::filesystem::path& folder);

  const std::string& name() const { return name_; }
  /// "0.3.21"; the name of its file where the library has no function that says it.
  std::string release() const;
  /// What it chose for this CPU ("Haswell"); null where the library does not say.
  std::optional<std::string> kernels() const;
  /// "cblas_sgemm_batch_strided", or "cblas_sgemm" where a batch is one call after the other.
  const char* batch_function() const { return strided_ == nullptr ? "cblas_sgemm" : "cblas_sgemm_batch_strided"; }

  /// Throws worker::Refused where the library has no function for it.
  void set_threads(int threads) const;
  /// As the library says; null where it does not.
  std::optional<int> threads() const;

  /// c = a b for each of the batch; rows one after the other.
  void multiply(const Shape& shape, const float* a, const float* b, float* c) const;

 private:
  Library(std::string name, void* handle);

  template <typename Function>
  Function* find(const char* symbol) const;

  std::string name_;
  void* handle_;
  Sgemm* multiply_ = nullptr;
  SgemmStrided* strided_ = nullptr;
};

}  // namespace assay::blas
