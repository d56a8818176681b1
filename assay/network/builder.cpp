#include "assay/network/builder.hpp"

#include <utility>

namespace assay::network {
namespace {

Attributes windowed(const Window& window) {
  Attributes a;
  a.kernel = window.kernel;
  a.stride = window.stride;
  a.padding = window.padding;
  return a;
}

Attributes norm(double epsilon) {
  Attributes a;
  a.epsilon = epsilon;
  return a;
}

Attributes table(std::int64_t rows, std::int64_t features) {
  Attributes a;
  a.rows = rows;
  a.features = features;
  return a;
}

}  // namespace

Window square(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return {{kernel, kernel}, {stride, stride}, {padding, padding}};
}

Builder::Builder(std::string name) {
  graph_.name = std::move(name);
}

std::string Builder::image(std::int64_t channels, std::int64_t size) {
  graph_.inputs.push_back({"image", {channels, size, size}, InputType::real, {}});
  return "image";
}

std::string Builder::volume(std::int64_t channels, std::int64_t size) {
  graph_.inputs.push_back({"volume", {channels, size, size, size}, InputType::real, {}});
  return "volume";
}

std::string Builder::numbers(const std::string& name, std::int64_t count) {
  graph_.inputs.push_back({name, {count}, InputType::real, {}});
  return name;
}

std::string Builder::tokens(const std::string& name, std::int64_t positions, std::int64_t below) {
  graph_.inputs.push_back({name, {positions}, InputType::integer, below});
  return name;
}

std::string Builder::add(Op op, const std::string& name, std::vector<std::string> inputs, Attributes attributes) {
  graph_.nodes.push_back({name, op, std::move(inputs), std::move(attributes), {}, {}});
  return name;
}

std::string Builder::convolution(const std::string& name, const std::string& input, std::int64_t channels,
                                 const Window& window, std::int64_t groups, bool bias) {
  Attributes a = windowed(window);
  a.channels = channels;
  a.groups = groups;
  a.bias = bias;
  return add(Op::convolution, name, {input}, a);
}

std::string Builder::dilated_convolution(const std::string& name, const std::string& input, std::int64_t channels,
                                         std::int64_t kernel, std::int64_t dilation, bool bias) {
  Attributes a = windowed(square(kernel, 1, dilation * (kernel - 1) / 2));
  a.channels = channels;
  a.dilation = {dilation, dilation};
  a.groups = 1;
  a.bias = bias;
  return add(Op::dilated_convolution, name, {input}, a);
}

std::string Builder::transposed_convolution(const std::string& name, const std::string& input, std::int64_t channels,
                                            std::int64_t kernel, std::int64_t stride) {
  Attributes a;
  a.channels = channels;
  a.kernel = {kernel, kernel};
  a.stride = {stride, stride};
  a.bias = true;
  return add(Op::transposed_convolution, name, {input}, a);
}

std::string Builder::convolution3d(const std::string& name, const std::string& input, std::int64_t channels,
                                   std::int64_t kernel) {
  const std::int64_t before = (kernel - 1) / 2;
  const std::int64_t behind = kernel - 1 - before;
  Attributes a = windowed({{kernel, kernel, kernel}, {1, 1, 1}, {before, before, before}});
  if (behind != before) a.padding_behind = {behind, behind, behind};
  a.channels = channels;
  a.groups = 1;
  a.bias = true;
  return add(Op::convolution3d, name, {input}, a);
}

std::string Builder::linear(const std::string& name, const std::string& input, std::int64_t features, bool bias) {
  Attributes a;
  a.features = features;
  a.bias = bias;
  return add(Op::linear, name, {input}, a);
}

std::string Builder::linear_with_weight_of(const std::string& name, const std::string& input, const std::string& owner,
                                           std::int64_t features) {
  Attributes a;
  a.features = features;
  a.bias = false;
  a.shared = owner;
  return add(Op::linear, name, {input}, a);
}

std::string Builder::batch_norm(const std::string& name, const std::string& input, double epsilon) {
  return add(Op::batch_norm, name, {input}, norm(epsilon));
}

std::string Builder::layer_norm(const std::string& name, const std::string& input, double epsilon) {
  return add(Op::layer_norm, name, {input}, norm(epsilon));
}

std::string Builder::rms_norm(const std::string& name, const std::string& input, double epsilon) {
  return add(Op::rms_norm, name, {input}, norm(epsilon));
}

std::string Builder::normed_convolution(const std::string& name, const std::string& input, std::int64_t channels,
                                        const Window& window, double epsilon, std::int64_t groups) {
  return batch_norm(name + ".bn", convolution(name + ".conv", input, channels, window, groups), epsilon);
}

std::string Builder::max_pool(const std::string& name, const std::string& input, const Window& window, bool ceil) {
  Attributes a = windowed(window);
  a.ceil = ceil;
  return add(Op::max_pool, name, {input}, a);
}

std::string Builder::max_pool3d(const std::string& name, const std::string& input, std::int64_t size) {
  Attributes a = windowed({{size, size, size}, {size, size, size}, {0, 0, 0}});
  a.ceil = false;
  return add(Op::max_pool3d, name, {input}, a);
}

std::string Builder::average_pool(const std::string& name, const std::string& input, const Window& window,
                                  bool count_padding) {
  Attributes a = windowed(window);
  a.ceil = false;
  a.count_padding = count_padding;
  return add(Op::average_pool, name, {input}, a);
}

std::string Builder::resize(const std::string& name, const std::string& input, std::int64_t size) {
  Attributes a;
  a.sizes = {size, size};
  return add(Op::resize, name, {input}, a);
}

std::string Builder::leaky_relu(const std::string& name, const std::string& input, double slope) {
  Attributes a;
  a.alpha = slope;
  return add(Op::leaky_relu, name, {input}, a);
}

std::string Builder::dropout(const std::string& name, const std::string& input, double probability) {
  if (probability == 0) return input;  // a node that does nothing is none
  Attributes a;
  a.probability = probability;
  return add(Op::dropout, name, {input}, a);
}

std::string Builder::concat(const std::string& name, std::vector<std::string> inputs) {
  return add(Op::concat, name, std::move(inputs), {});
}

std::string Builder::embedding(const std::string& name, const std::string& input, std::int64_t rows,
                               std::int64_t features) {
  return add(Op::embedding, name, {input}, table(rows, features));
}

std::string Builder::embedding_with_table_of(const std::string& name, const std::string& input,
                                             const std::string& owner, std::int64_t rows, std::int64_t features) {
  Attributes a = table(rows, features);
  a.shared = owner;
  return add(Op::embedding, name, {input}, a);
}

std::string Builder::position_embedding(const std::string& name, const std::string& input, std::int64_t rows,
                                        std::int64_t features) {
  return add(Op::position_embedding, name, {input}, table(rows, features));
}

std::string Builder::sinusoids(const std::string& name, const std::string& input, std::int64_t features) {
  Attributes a;
  a.features = features;
  return add(Op::sinusoids, name, {input}, a);
}

std::string Builder::learned_tokens(const std::string& name, const std::string& input, std::int64_t count,
                                    std::int64_t features) {
  Attributes a = table(count, features);
  a.length = count;
  return add(Op::position_embedding, name, {input}, a);
}

std::string Builder::attention(const std::string& name, const std::vector<std::string>& queries_keys_values,
                               std::int64_t heads, bool causal, double dropout) {
  Attributes a;
  a.heads = heads;
  a.causal = causal;
  a.dropout = dropout;
  return add(Op::attention, name, queries_keys_values, a);
}

std::string Builder::cross_attention(const std::string& name, const std::vector<std::string>& queries_keys_values,
                                     std::int64_t heads, std::int64_t key_heads, bool causal, double dropout) {
  Attributes a;
  a.heads = heads;
  if (key_heads != heads) a.key_heads = key_heads;
  a.causal = causal;
  a.dropout = dropout;
  return add(Op::cross_attention, name, queries_keys_values, a);
}

std::string Builder::rotary(const std::string& name, const std::string& input, std::int64_t heads, double base) {
  Attributes a;
  a.heads = heads;
  a.base = base;
  return add(Op::rotary, name, {input}, a);
}

std::string Builder::recurrent(Op op, const std::string& name, const std::string& input, std::int64_t features) {
  Attributes a;
  a.features = features;
  return add(op, name, {input}, a);
}

std::string Builder::select(const std::string& name, const std::string& input, std::int64_t index) {
  Attributes a;
  a.index = index;
  return add(Op::select, name, {input}, a);
}

std::string Builder::slice(const std::string& name, const std::string& input, std::int64_t begin, std::int64_t length) {
  Attributes a;
  a.begin = begin;
  a.length = length;
  return add(Op::slice, name, {input}, a);
}

std::string Builder::plain(Op op, const std::string& name, std::vector<std::string> inputs) {
  return add(op, name, std::move(inputs), {});
}

Graph Builder::finish(const std::string& output, Loss loss) {
  graph_.output = output;
  graph_.loss = loss;
  complete(graph_);
  return std::move(graph_);
}

}  // namespace assay::network
