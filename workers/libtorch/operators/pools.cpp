#include "workers/libtorch/building.hpp"

namespace assay::libtorch {
namespace {

/// Kernel, stride and padding of a pool, and whether a last window that is not full counts.
struct Window {
  explicit Window(const GraphNode& node)
      : kernel(node.attribute<Sizes>("kernel")),
        stride(node.attribute<Sizes>("stride")),
        padding(node.attribute<Sizes>("padding")),
        ceil(node.attribute("ceil", false)) {}

  Sizes kernel, stride, padding;
  bool ceil;
};

Call max_pool(const GraphNode& node, Building&) {
  const Window w(node);
  return [=](const Tensors& in) { return at::max_pool2d(in[0], w.kernel, w.stride, w.padding, 1, w.ceil); };
}

Call max_pool3d(const GraphNode& node, Building&) {
  const Window w(node);
  return [=](const Tensors& in) { return at::max_pool3d(in[0], w.kernel, w.stride, w.padding, 1, w.ceil); };
}

Call average_pool(const GraphNode& node, Building&) {
  const Window w(node);
  const bool counted = node.attribute("count_padding", false);
  return [=](const Tensors& in) { return at::avg_pool2d(in[0], w.kernel, w.stride, w.padding, w.ceil, counted); };
}

Call global_average_pool(const GraphNode&, Building&) {
  return [](const Tensors& in) { return at::adaptive_avg_pool2d(in[0], {1, 1}).flatten(1); };
}

Call resize(const GraphNode& node, Building&) {
  const auto sizes = node.attribute<Sizes>("sizes");
  return [=](const Tensors& in) { return at::upsample_bilinear2d(in[0], sizes, /*align_corners=*/false); };
}

}  // namespace

Table pool_operators() {
  return {
      {"max_pool", max_pool},
      {"max_pool3d", max_pool3d},
      {"average_pool", average_pool},
      {"global_average_pool", global_average_pool},
      {"resize", resize},
  };
}

}  // namespace assay::libtorch
