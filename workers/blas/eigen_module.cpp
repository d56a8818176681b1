// Eigen as a CBLAS of one function, compiled for one set of vector instructions. Of what CBLAS allows it has what the
// worker asks for: rows one after the other, nothing transposed or scaled, no gaps between rows.

#include <Eigen/Core>

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

#define ASSAY_EXPORTED __attribute__((visibility("default")))

extern "C" {

ASSAY_EXPORTED void cblas_sgemm(int /*layout*/, int /*transpose_a*/, int /*transpose_b*/, int m, int n, int k,
                                float /*alpha*/, const float* a, int /*lda*/, const float* b, int /*ldb*/,
                                float /*beta*/, float* c, int /*ldc*/) {
  Eigen::Map<Matrix>(c, m, n).noalias() = Eigen::Map<const Matrix>(a, m, k) * Eigen::Map<const Matrix>(b, k, n);
}

ASSAY_EXPORTED void assay_eigen_set_threads(int threads) {
  Eigen::setNbThreads(threads);
}

ASSAY_EXPORTED int assay_eigen_threads() {
  return Eigen::nbThreads();
}

ASSAY_EXPORTED const char* assay_eigen_release() {
#define ASSAY_TEXT_OF(number) #number
#define ASSAY_TEXT(number) ASSAY_TEXT_OF(number)
  return ASSAY_TEXT(EIGEN_WORLD_VERSION) "." ASSAY_TEXT(EIGEN_MAJOR_VERSION) "." ASSAY_TEXT(EIGEN_MINOR_VERSION);
}

ASSAY_EXPORTED const char* assay_eigen_kernels() {
  return ASSAY_EIGEN_SET;
}

}  // extern "C"
