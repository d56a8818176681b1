#include "workers/onednn/call.hpp"

namespace assay::onednn {
namespace {

/// c = a b, the last two dimensions being matrices.
std::unique_ptr<Operation> make_product(Workshop& workshop, const Sizes& a, const Sizes& b, const Sizes& c) {
  const dnnl::matmul::desc asked(Workshop::any(a, workshop.type()), Workshop::any(b, workshop.type()),
                                 Workshop::any(c, workshop.result_type()));
  const dnnl::matmul::primitive_desc chosen(asked, workshop.engine());
  return std::make_unique<Call>(
      workshop, dnnl::matmul(chosen),
      std::unordered_map<int, dnnl::memory>{{DNNL_ARG_SRC, workshop.filled("a", chosen.src_desc())},
                                            {DNNL_ARG_WEIGHTS, workshop.filled("b", chosen.weights_desc())},
                                            {DNNL_ARG_DST, workshop.empty(chosen.dst_desc())}},
      DNNL_ARG_DST);
}

}  // namespace

std::unique_ptr<Operation> make_gemm(Workshop& workshop) {
  const auto m = workshop.size("m"), n = workshop.size("n"), k = workshop.size("k");
  return make_product(workshop, {m, k}, {k, n}, {m, n});
}

std::unique_ptr<Operation> make_batched_gemm(Workshop& workshop) {
  const auto m = workshop.size("m"), n = workshop.size("n"), k = workshop.size("k"), batch = workshop.batch();
  return make_product(workshop, {batch, m, k}, {batch, k, n}, {batch, m, n});
}

}  // namespace assay::onednn
