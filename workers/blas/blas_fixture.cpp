// Libraries for the tests, from plain loops. ASSAY_BLAS_PLAIN is right, ASSAY_BLAS_FORGETFUL leaves out the last of k,
// ASSAY_BLAS_EMPTY has no product.

extern "C" {

#if defined(ASSAY_BLAS_EMPTY)
int nothing_to_multiply() {
  return 0;
}
#else
void cblas_sgemm(int, int, int, int m, int n, int k, float, const float* a, int lda, const float* b, int ldb, float,
                 float* c, int ldc) {
#if defined(ASSAY_BLAS_FORGETFUL)
  const int last = k - 1;
#else
  const int last = k;
#endif
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < last; ++l) sum += a[i * lda + l] * b[l * ldb + j];
      c[i * ldc + j] = sum;
    }
  }
}
#endif

}  // extern "C"
