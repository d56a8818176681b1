// Operators that slide a window over an image or a volume.

#include "assay/network/derivation/derive_parts.hpp"

namespace assay::network::derivation {
namespace {

bool is_of_volumes(const Node& node) {
  return node.op == Op::convolution3d || node.op == Op::max_pool3d;
}

/// Numbers of a kernel, a stride or a padding: height and width, of volumes also depth in front.
const std::vector<std::int64_t>& need_extent(const Node& node, const std::optional<std::vector<std::int64_t>>& value,
                                             const char* name, std::int64_t least) {
  const auto& numbers = need(node, value, name);
  const std::size_t count = is_of_volumes(node) ? 3 : 2;
  if (numbers.size() != count) {
    const char* what = is_of_volumes(node) ? "a depth, a height and a width" : "a height and a width";
    wrong(node, fmt::format("attribute '{}' needs {}", name, what));
  }
  for (const auto number : numbers) {
    if (number < least || number >= kMostOfOne) wrong(node, fmt::format("attribute '{}' has {}", name, number));
  }
  return numbers;
}

std::int64_t window_count(const Node& node, std::int64_t size, std::int64_t kernel, std::int64_t stride,
                          std::int64_t padding, std::int64_t behind, bool ceil) {
  const std::int64_t room = size + padding + behind - kernel;
  if (room < 0) wrong(node, fmt::format("a window of {} does not fit {} with padding {}", kernel, size, padding));
  std::int64_t count = (room + (ceil ? stride - 1 : 0)) / stride + 1;
  // A window that would begin in the padding behind the input is none.
  if (ceil && (count - 1) * stride >= size + padding) --count;
  return count;
}

/// The output of windows over an image or a volume, with `channels` channels.
Shape slid(const Node& node, const Shape& input, std::int64_t channels, bool ceil) {
  need_rank(node, input, is_of_volumes(node) ? 4 : 3);
  const auto& kernel = need_extent(node, node.attributes.kernel, "kernel", 1);
  const auto& stride = need_extent(node, node.attributes.stride, "stride", 1);
  const auto& padding = need_extent(node, node.attributes.padding, "padding", 0);
  const bool uneven = node.op == Op::convolution3d && node.attributes.padding_behind;
  const auto& behind = uneven ? need_extent(node, node.attributes.padding_behind, "padding_behind", 0) : padding;
  const std::vector<std::int64_t> alone(kernel.size(), 1);
  const bool dilated = node.op == Op::dilated_convolution;
  const auto& dilation = dilated ? need_extent(node, node.attributes.dilation, "dilation", 1) : alone;
  Shape shape{channels};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    shape.push_back(window_count(node, input[1 + i], reach, stride[i], padding[i], behind[i], ceil));
  }
  return shape;
}

}  // namespace

void derive_convolution(Node& node, const Shape& input) {
  const auto channels = need_positive(node, node.attributes.channels, "channels");
  const auto groups = need_positive(node, node.attributes.groups, "groups");
  node.shape = slid(node, input, channels, false);
  if (input[0] % groups != 0 || channels % groups != 0) {
    wrong(node, fmt::format("{} groups do not divide {} and {} channels", groups, input[0], channels));
  }
  Shape weight{channels, input[0] / groups};
  weight.insert(weight.end(), node.attributes.kernel->begin(), node.attributes.kernel->end());
  node.parameters = {{"weight", weight}};
  if (need(node, node.attributes.bias, "bias")) node.parameters.push_back({"bias", {channels}});
}

/// Each value is spread over a window; windows lie `stride` apart and are added where they overlap.
void derive_transposed_convolution(Node& node, const Shape& input) {
  need_rank(node, input, 3);
  const auto channels = need_positive(node, node.attributes.channels, "channels");
  const auto& kernel = need_extent(node, node.attributes.kernel, "kernel", 1);
  const auto& stride = need_extent(node, node.attributes.stride, "stride", 1);
  node.shape = {channels};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (kernel[i] < stride[i]) wrong(node, fmt::format("a window of {} leaves gaps every {}", kernel[i], stride[i]));
    if (input[1 + i] >= kMostOfOne) wrong(node, fmt::format("its input {} is out of range", text(input)));
    node.shape.push_back((input[1 + i] - 1) * stride[i] + kernel[i]);
  }
  node.parameters = {{"weight", {input[0], channels, kernel[0], kernel[1]}}};
  if (need(node, node.attributes.bias, "bias")) node.parameters.push_back({"bias", {channels}});
}

void derive_resize(Node& node, const Shape& input) {
  need_rank(node, input, 3);
  const auto& sizes = need_extent(node, node.attributes.sizes, "sizes", 1);
  if (sizes[0] < input[1] || sizes[1] < input[2]) {
    wrong(node, fmt::format("it would make {} smaller; it only enlarges", text(input)));
  }
  node.shape = {input[0], sizes[0], sizes[1]};
}

void derive_pool(Node& node, const Shape& input) {
  need_rank(node, input, is_of_volumes(node) ? 4 : 3);
  node.shape = slid(node, input, input[0], need(node, node.attributes.ceil, "ceil"));
  if (node.op == Op::average_pool) need(node, node.attributes.count_padding, "count_padding");
}

}  // namespace assay::network::derivation
