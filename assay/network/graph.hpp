#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::network {

constexpr std::int64_t kGraphVersion = 1;

/// Sizes of a tensor without the batch, which stands in front of every one. Images are [channels, height, width],
/// volumes [channels, depth, height, width], sequences [positions, features], whatever layout a framework uses inside.
using Shape = std::vector<std::int64_t>;

enum class Op {
  convolution,
  linear,
  batch_norm,
  layer_norm,
  local_response_norm,
  relu,
  relu6,
  gelu,
  gelu_tanh,
  tanh,
  sigmoid,
  silu,
  hard_swish,
  hard_sigmoid,
  softmax,
  max_pool,
  average_pool,
  global_average_pool,
  flatten,
  dropout,
  concat,
  add,
  multiply,
  embedding,
  position_embedding,
  attention,
  select,
  slice,
  to_sequence,
  dilated_convolution,
  resize,
  transposed_convolution,
  l2_norm,
  lstm,
  gru,
  pairwise_dots,
  rms_norm,
  rotary,
  cross_attention,
  sinusoids,
  leaky_relu,
  convolution3d,
  max_pool3d,
};

}  // namespace assay::network

template <>
struct assay::EnumNames<assay::network::Op> {
  static constexpr std::array<const char*, 43> names{"convolution",
                                                     "linear",
                                                     "batch_norm",
                                                     "layer_norm",
                                                     "local_response_norm",
                                                     "relu",
                                                     "relu6",
                                                     "gelu",
                                                     "gelu_tanh",
                                                     "tanh",
                                                     "sigmoid",
                                                     "silu",
                                                     "hard_swish",
                                                     "hard_sigmoid",
                                                     "softmax",
                                                     "max_pool",
                                                     "average_pool",
                                                     "global_average_pool",
                                                     "flatten",
                                                     "dropout",
                                                     "concat",
                                                     "add",
                                                     "multiply",
                                                     "embedding",
                                                     "position_embedding",
                                                     "attention",
                                                     "select",
                                                     "slice",
                                                     "to_sequence",
                                                     "dilated_convolution",
                                                     "resize",
                                                     "transposed_convolution",
                                                     "l2_norm",
                                                     "lstm",
                                                     "gru",
                                                     "pairwise_dots",
                                                     "rms_norm",
                                                     "rotary",
                                                     "cross_attention",
                                                     "sinusoids",
                                                     "leaky_relu",
                                                     "convolution3d",
                                                     "max_pool3d"};
};

namespace assay::network {

/// What an operator leaves open. Each has its own few; the others stay null.
struct Attributes {
  std::optional<std::int64_t> channels;  ///< convolutions: channels of the output
  /// Height and width, of convolution3d and max_pool3d also depth in front; so are the next two.
  std::optional<std::vector<std::int64_t>> kernel;
  std::optional<std::vector<std::int64_t>> stride;
  std::optional<std::vector<std::int64_t>> padding;  ///< zeros on either side
  /// convolution3d: zeros after the input, where they are not as many as before it.
  std::optional<std::vector<std::int64_t>> padding_behind;
  /// resize: height and width of the output, none smaller than the input's. Linear in both, a pixel being an area
  /// (half-pixel centres), values at the rim repeated.
  std::optional<std::vector<std::int64_t>> sizes;
  /// dilated_convolution: neighbours in a window are so far apart.
  std::optional<std::vector<std::int64_t>> dilation;
  std::optional<std::int64_t> groups;  ///< of a convolution
  /// linear, embeddings, sinusoids, recurrent layers: last dimension of the output. Value 2 i of sinusoids is at
  /// position p the sine of p / 10000^(2 i / features), value 2 i + 1 its cosine.
  std::optional<std::int64_t> features;
  std::optional<bool> bias;
  /// linear, embedding: the node whose weight it uses; it then has none of its own.
  std::optional<std::string> shared;
  std::optional<double> epsilon;  ///< norms
  /// pools: a last window that is not full counts, unless it begins after the input and its left padding.
  std::optional<bool> ceil;
  std::optional<bool> count_padding;  ///< average_pool: zeros of the padding are averaged too
  std::optional<std::int64_t> rows;   ///< embeddings
  std::optional<std::int64_t> heads;  ///< attention, rotary; scores of attention are scaled by 1/sqrt(features/heads)
  /// cross_attention: of keys and values, where they are fewer; each serves heads / key_heads queries that follow
  /// each other.
  std::optional<std::int64_t> key_heads;
  /// rotary: at position p value i of the first half of a head and value i of the second are turned by the angle p *
  /// base^(-2 i / size of a head).
  std::optional<double> base;
  std::optional<bool> causal;         ///< attention: a position sees only those before it
  std::optional<double> dropout;      ///< attention: probability, in training
  std::optional<double> probability;  ///< dropout, in training
  std::optional<std::int64_t> index;  ///< select: position of dimension 0
  std::optional<std::int64_t> begin;  ///< slice of the last dimension
  /// slice; position_embedding: positions, where they are not those of its input.
  std::optional<std::int64_t> length;
  std::optional<std::int64_t> size;  ///< local_response_norm; so are the next three
  std::optional<double> alpha;       ///< also leaky_relu: the slope below 0
  std::optional<double> beta;
  std::optional<double> k;
};

template <typename V>
void describe(V& v, Attributes& a) {
  v("channels", a.channels);
  v("kernel", a.kernel);
  v("stride", a.stride);
  v("padding", a.padding);
  v("padding_behind", a.padding_behind);
  v("sizes", a.sizes);
  v("dilation", a.dilation);
  v("groups", a.groups);
  v("features", a.features);
  v("bias", a.bias);
  v("shared", a.shared);
  v("epsilon", a.epsilon);
  v("ceil", a.ceil);
  v("count_padding", a.count_padding);
  v("rows", a.rows);
  v("heads", a.heads);
  v("key_heads", a.key_heads);
  v("base", a.base);
  v("causal", a.causal);
  v("dropout", a.dropout);
  v("probability", a.probability);
  v("index", a.index);
  v("begin", a.begin);
  v("length", a.length);
  v("size", a.size);
  v("alpha", a.alpha);
  v("beta", a.beta);
  v("k", a.k);
}

enum class InputType { real, integer };

/// Something the network is given: an image, or token numbers below `below`.
struct Input {
  std::string name;
  Shape shape;  ///< without the batch, which stands in front
  InputType type = InputType::real;
  std::optional<std::int64_t> below;  ///< integers are 0 to below this
};

template <typename V>
void describe(V& v, Input& i) {
  required(v, "name", i.name);
  required(v, "shape", i.shape);
  v("type", i.type);
  v("below", i.below);
}

/// A trainable tensor of a node.
struct Parameter {
  std::string name;  ///< weight, weight_state or bias
  Shape shape;
};

template <typename V>
void describe(V& v, Parameter& p) {
  required(v, "name", p.name);
  required(v, "shape", p.shape);
}

/// One operator, with what it works on.
struct Node {
  std::string name;
  Op op = Op::relu;
  std::vector<std::string> inputs;  ///< earlier nodes, or inputs of the graph
  Attributes attributes;
  Shape shape;                        ///< of its output, without the batch; derived
  std::vector<Parameter> parameters;  ///< its trainable tensors; derived
};

template <typename V>
void describe(V& v, Node& n) {
  required(v, "name", n.name);
  required(v, "op", n.op);
  required(v, "inputs", n.inputs);
  v("attributes", n.attributes);
  v("shape", n.shape);
  v("parameters", n.parameters);
}

enum class Loss { cross_entropy, mean_square };

/// A network, described once for every framework. Nodes stand in an order in which they can be computed.
struct Graph {
  std::int64_t version = kGraphVersion;
  std::string name;
  std::vector<Input> inputs;
  std::vector<Node> nodes;
  std::string output;  ///< name of a node
  /// cross_entropy: against one class per sample, or per position where the output is [positions, classes];
  /// mean_square: mean of the squares of the output.
  Loss loss = Loss::cross_entropy;
  /// Trainable numbers in all, shared ones once; derived. A worker that builds another number has failed.
  std::int64_t parameters = 0;
};

template <typename V>
void describe(V& v, Graph& g) {
  required(v, "version", g.version);
  required(v, "name", g.name);
  required(v, "inputs", g.inputs);
  required(v, "nodes", g.nodes);
  required(v, "output", g.output);
  v("loss", g.loss);
  v("parameters", g.parameters);
}

/// Number of values of a tensor, without the batch.
std::int64_t elements(const Shape& shape);

/// Checks the graph and derives the shapes and parameters of its nodes. Throws Error{bad_input} that names the node
/// where the graph is malformed or makes no sense.
void complete(Graph& graph);

/// The graph as it travels to a worker: with what is derived, without nulls.
json to_wire(const Graph& graph);

/// Reads a graph from outside and completes it: what is derived is derived again, whatever stood there.
Graph read_graph(const json& wire);

/// Identity of what is computed: a hash over inputs, nodes, output and loss, without what is derived from them and
/// without the network's name.
std::string graph_hash(const Graph& graph);

}  // namespace assay::network

template <>
struct assay::EnumNames<assay::network::InputType> {
  static constexpr std::array<const char*, 2> names{"real", "integer"};
};

template <>
struct assay::EnumNames<assay::network::Loss> {
  static constexpr std::array<const char*, 2> names{"cross_entropy", "mean_square"};
};
