#include "workers/onednn/call.hpp"

namespace assay::onednn {

std::unique_ptr<Operation> make_layer_norm(Workshop& workshop) {
  using dnnl::normalization_flags;
  constexpr float kEpsilon = 1e-5F;
  const auto features = workshop.size("features");
  const auto data = Workshop::plain({workshop.batch(), workshop.size("sequence"), features}, workshop.type());
  const dnnl::layer_normalization_forward::desc asked(dnnl::prop_kind::forward_inference, data, kEpsilon,
                                                      normalization_flags::use_scale | normalization_flags::use_shift);
  const dnnl::layer_normalization_forward::primitive_desc chosen(asked, workshop.engine());
  const auto parameter = Workshop::plain({features}, dnnl::memory::data_type::f32);
  return std::make_unique<Call>(
      workshop, dnnl::layer_normalization_forward(chosen),
      std::unordered_map<int, dnnl::memory>{{DNNL_ARG_SRC, workshop.filled("input", chosen.src_desc())},
                                            {DNNL_ARG_SCALE, workshop.filled("scale", parameter)},
                                            {DNNL_ARG_SHIFT, workshop.filled("shift", parameter)},
                                            {DNNL_ARG_DST, workshop.empty(chosen.dst_desc())}},
      DNNL_ARG_DST);
}

}  // namespace assay::onednn
