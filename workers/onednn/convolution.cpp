#include "workers/onednn/call.hpp"

namespace assay::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using Arguments = std::unordered_map<int, dnnl::memory>;

/// Tensors and window of a convolution as oneDNN takes them.
struct Shapes {
  Sizes input;
  Sizes weight;  ///< with groups in front where there are several
  Sizes output;
  Sizes strides;
  Sizes padding;
};

Shapes shapes_of(const Workshop& workshop) {
  const auto groups = workshop.size("groups"), in = workshop.size("channels_in"), out = workshop.size("channels_out");
  Shapes shapes;
  shapes.input = {workshop.batch(), in};
  shapes.output = {workshop.batch(), out};
  shapes.weight = groups > 1 ? Sizes{groups, out / groups, in / groups} : Sizes{out, in};
  for (const auto size : convolution_sizes(workshop.options())) {
    shapes.input.push_back(size);
    shapes.output.push_back(windows_along(workshop.options(), size));
    shapes.weight.push_back(workshop.size("kernel"));
    shapes.strides.push_back(workshop.size("stride"));
    // What does not fit after the last window is cut off, by a padding that is smaller there or negative.
    shapes.padding.push_back(workshop.size("padding"));
  }
  return shapes;
}

/// Padding behind: so much that the last window ends where the input, padded, has been used.
Sizes padding_behind(const Shapes& shapes) {
  Sizes behind;
  for (std::size_t i = 0; i < shapes.strides.size(); ++i) {
    const auto kernel = shapes.weight.back();
    const auto used = (shapes.output[i + 2] - 1) * shapes.strides[i] + kernel;
    behind.push_back(used - shapes.input[i + 2] - shapes.padding[i]);
  }
  return behind;
}

dnnl::convolution_forward::primitive_desc forward_of(Workshop& workshop, const Shapes& shapes, prop_kind kind) {
  const dnnl::convolution_forward::desc asked(
      kind, algorithm::convolution_direct, Workshop::any(shapes.input, workshop.type()),
      Workshop::any(shapes.weight, workshop.type()), Workshop::any(shapes.output, workshop.result_type()),
      shapes.strides, shapes.padding, padding_behind(shapes));
  return {asked, workshop.engine()};
}

std::unique_ptr<Operation> make_forward(Workshop& workshop, const Shapes& shapes) {
  const auto chosen = forward_of(workshop, shapes, prop_kind::forward_inference);
  return std::make_unique<Call>(workshop, dnnl::convolution_forward(chosen),
                                Arguments{{DNNL_ARG_SRC, workshop.filled("input", chosen.src_desc())},
                                          {DNNL_ARG_WEIGHTS, workshop.filled("weight", chosen.weights_desc())},
                                          {DNNL_ARG_DST, workshop.empty(chosen.dst_desc())}},
                                DNNL_ARG_DST);
}

std::unique_ptr<Operation> make_backward_data(Workshop& workshop, const Shapes& shapes) {
  const dnnl::convolution_backward_data::desc asked(
      algorithm::convolution_direct, Workshop::any(shapes.input, workshop.type()),
      Workshop::any(shapes.weight, workshop.type()), Workshop::any(shapes.output, workshop.type()), shapes.strides,
      shapes.padding, padding_behind(shapes));
  const dnnl::convolution_backward_data::primitive_desc chosen(
      asked, workshop.engine(), forward_of(workshop, shapes, prop_kind::forward_training));
  return std::make_unique<Call>(workshop, dnnl::convolution_backward_data(chosen),
                                Arguments{{DNNL_ARG_DIFF_DST, workshop.filled("gradient", chosen.diff_dst_desc())},
                                          {DNNL_ARG_WEIGHTS, workshop.filled("weight", chosen.weights_desc())},
                                          {DNNL_ARG_DIFF_SRC, workshop.empty(chosen.diff_src_desc())}},
                                DNNL_ARG_DIFF_SRC);
}

std::unique_ptr<Operation> make_backward_weights(Workshop& workshop, const Shapes& shapes) {
  const dnnl::convolution_backward_weights::desc asked(
      algorithm::convolution_direct, Workshop::any(shapes.input, workshop.type()),
      Workshop::any(shapes.weight, workshop.type()), Workshop::any(shapes.output, workshop.type()), shapes.strides,
      shapes.padding, padding_behind(shapes));
  const dnnl::convolution_backward_weights::primitive_desc chosen(
      asked, workshop.engine(), forward_of(workshop, shapes, prop_kind::forward_training));
  return std::make_unique<Call>(workshop, dnnl::convolution_backward_weights(chosen),
                                Arguments{{DNNL_ARG_SRC, workshop.filled("input", chosen.src_desc())},
                                          {DNNL_ARG_DIFF_DST, workshop.filled("gradient", chosen.diff_dst_desc())},
                                          {DNNL_ARG_DIFF_WEIGHTS, workshop.empty(chosen.diff_weights_desc())}},
                                DNNL_ARG_DIFF_WEIGHTS);
}

}  // namespace

std::unique_ptr<Operation> make_convolution(Workshop& workshop) {
  const auto shapes = shapes_of(workshop);
  const auto pass = workshop.choice("pass");
  if (pass == "backward_data") return make_backward_data(workshop, shapes);
  if (pass == "backward_weights") return make_backward_weights(workshop, shapes);
  return make_forward(workshop, shapes);
}

}  // namespace assay::onednn
