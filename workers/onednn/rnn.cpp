#include "workers/onednn/call.hpp"

namespace assay::onednn {
namespace {

using Type = dnnl::memory::data_type;
constexpr auto kDirection = dnnl::rnn_direction::unidirectional_left2right;
constexpr auto kKind = dnnl::prop_kind::forward_inference;

/// One layer in one direction, from a state of zeros; all outputs are given and no last state.
struct Layer {
  dnnl::memory::desc input, weights, recurrent, bias, output;
};

/// `gates` have weights, `biases` a bias each.
Layer layer_of(const Workshop& workshop, std::int64_t gates, std::int64_t biases) {
  const auto sequence = workshop.size("sequence"), batch = workshop.batch();
  const auto features = workshop.size("features"), hidden = workshop.size("hidden");
  return {Workshop::any({sequence, batch, features}, workshop.type()),
          Workshop::any({1, 1, features, gates, hidden}, workshop.type()),
          Workshop::any({1, 1, hidden, gates, hidden}, workshop.type()),
          Workshop::any({1, 1, biases, hidden}, Type::f32), Workshop::any({sequence, batch, hidden}, workshop.type())};
}

template <typename Recurrent>
std::unique_ptr<Operation> make(Workshop& workshop, const typename Recurrent::primitive_desc& chosen) {
  return std::make_unique<Call>(workshop, Recurrent(chosen),
                                std::unordered_map<int, dnnl::memory>{
                                    {DNNL_ARG_SRC_LAYER, workshop.filled("input", chosen.src_layer_desc())},
                                    {DNNL_ARG_WEIGHTS_LAYER, workshop.filled("weights", chosen.weights_layer_desc())},
                                    {DNNL_ARG_WEIGHTS_ITER, workshop.filled("recurrent", chosen.weights_iter_desc())},
                                    {DNNL_ARG_BIAS, workshop.filled("bias", chosen.bias_desc())},
                                    {DNNL_ARG_DST_LAYER, workshop.empty(chosen.dst_layer_desc())}},
                                DNNL_ARG_DST_LAYER);
}

}  // namespace

std::unique_ptr<Operation> make_rnn(Workshop& workshop) {
  const dnnl::memory::desc none;
  if (workshop.choice("cell") == "lstm") {
    const auto l = layer_of(workshop, 4, 4);
    const dnnl::lstm_forward::desc asked(kKind, kDirection, l.input, none, none, l.weights, l.recurrent, l.bias,
                                         l.output, none, none);
    return make<dnnl::lstm_forward>(workshop, {asked, workshop.engine()});
  }
  // Linear before reset: the form that cuDNN and torch have too.
  const auto l = layer_of(workshop, 3, 4);
  const dnnl::lbr_gru_forward::desc asked(kKind, kDirection, l.input, none, l.weights, l.recurrent, l.bias, l.output,
                                          none);
  return make<dnnl::lbr_gru_forward>(workshop, {asked, workshop.engine()});
}

}  // namespace assay::onednn
