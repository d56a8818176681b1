// Operators on sequences, [positions, features].

#include "assay/network/derivation/derive_parts.hpp"

namespace assay::network::derivation {

void derive_embedding(Node& node, const Shape& input, const Node* shared) {
  const auto rows = need_positive(node, node.attributes.rows, "rows");
  const auto features = need_positive(node, node.attributes.features, "features");
  if (input.empty()) wrong(node, "its input has no dimension");
  if (node.op == Op::embedding) need_rank(node, input, 1);
  const auto length = node.attributes.length ? need_positive(node, node.attributes.length, "length") : input[0];
  if (node.op == Op::position_embedding && length > rows) {
    wrong(node, fmt::format("{} positions are more than its {} rows", length, rows));
  }
  node.shape = {node.op == Op::position_embedding ? length : input[0], features};
  if (node.op == Op::embedding && node.attributes.shared) {
    return need_shared_weight(node, shared, {rows, features});
  }
  node.parameters = {{"weight", {rows, features}}};
}

void derive_sinusoids(Node& node, const Shape& input) {
  if (input.empty()) wrong(node, "its input has no dimension");
  const auto features = need_positive(node, node.attributes.features, "features");
  if (features % 2 != 0) wrong(node, fmt::format("{} features do not make pairs of sine and cosine", features));
  node.shape = {input[0], features};
}

void derive_to_sequence(Node& node, const Shape& input) {
  need_rank(node, input, 3);
  node.shape = {input[1] * input[2], input[0]};
}

/// Gates lie below each other: those of an LSTM as input, forget, new and output, with one bias; those of a GRU as
/// reset, update and new, with a bias for the input and one for the state, since its reset gate acts on the second.
void derive_recurrent(Node& node, const Shape& input) {
  need_rank(node, input, 2);
  const auto features = need_positive(node, node.attributes.features, "features");
  const std::int64_t rows = (node.op == Op::lstm ? 4 : 3) * features;
  node.shape = {input[0], features};
  node.parameters = {{"weight", {rows, input[1]}},
                     {"weight_state", {rows, features}},
                     {"bias", node.op == Op::lstm ? Shape{rows} : Shape{2, rows}}};
}

/// The dot product of each two inputs: of the second with the first, of the third with the first and the second, …
void derive_pairwise_dots(Node& node, const std::vector<Shape>& inputs) {
  if (inputs.size() < 2) wrong(node, "it needs two inputs at least");
  for (const auto& input : inputs) {
    need_rank(node, input, 1);
    if (input != inputs[0]) wrong(node, fmt::format("its inputs {} and {} differ", text(inputs[0]), text(input)));
  }
  const auto count = static_cast<std::int64_t>(inputs.size());
  node.shape = {count * (count - 1) / 2};
}

void derive_rotary(Node& node, const Shape& input) {
  need_rank(node, input, 2);
  const auto heads = need_positive(node, node.attributes.heads, "heads");
  if (!(need(node, node.attributes.base, "base") > 0)) wrong(node, "attribute 'base' is not above 0");
  if (input[1] % (2 * heads) != 0) {
    wrong(node, fmt::format("{} heads, each with two halves, do not divide {} features", heads, input[1]));
  }
  node.shape = input;
}

void derive_attention(Node& node, const std::vector<Shape>& inputs) {
  need_inputs(node, inputs, 3);
  const auto heads = need_positive(node, node.attributes.heads, "heads");
  need(node, node.attributes.causal, "causal");
  need_rank(node, inputs[0], 2);
  if (inputs[0] != inputs[1] || inputs[0] != inputs[2]) wrong(node, "queries, keys and values differ in shape");
  if (inputs[0][1] % heads != 0) wrong(node, fmt::format("{} heads do not divide {} features", heads, inputs[0][1]));
  node.shape = inputs[0];
}

/// Keys and values may be of other positions than queries, and of fewer heads.
void derive_cross_attention(Node& node, const std::vector<Shape>& inputs) {
  need_inputs(node, inputs, 3);
  const auto heads = need_positive(node, node.attributes.heads, "heads");
  const auto key_heads = need_positive(node, node.attributes.key_heads.value_or(heads), "key_heads");
  const bool causal = need(node, node.attributes.causal, "causal");
  const Shape &queries = inputs[0], &keys = inputs[1];
  need_rank(node, queries, 2);
  need_rank(node, keys, 2);
  if (keys != inputs[2]) wrong(node, "keys and values differ in shape");
  const bool fits = queries[1] % heads == 0 && heads % key_heads == 0 && keys[1] % key_heads == 0 &&
                    queries[1] / heads == keys[1] / key_heads;
  if (!fits) {
    wrong(node, fmt::format("{} heads of {} and {} heads of {} do not go together", heads, text(queries), key_heads,
                            text(keys)));
  }
  if (causal && queries[0] != keys[0]) wrong(node, "it is causal, and queries and keys differ in length");
  node.shape = queries;
}

}  // namespace assay::network::derivation
