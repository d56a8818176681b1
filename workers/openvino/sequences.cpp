// Operators on sequences, as those of operators.cpp.

#include <cmath>

#include "workers/openvino/making.hpp"

namespace assay::openvino {
namespace {

Output to_sequence(const GraphNode& node, const Inputs& in, Building& building) {
  const auto pixels = reshaped(in[0], {building.batch(), node.shape.at(1), node.shape.at(0)});
  return make<op::Transpose>(pixels, integers({0, 2, 1}));
}

/// What lies below the diagonal of the products of all inputs, row by row.
Output pairwise_dots(const GraphNode&, const Inputs& in, Building& building) {
  const auto count = static_cast<std::int64_t>(in.size());
  Inputs rows;
  for (const auto& vector : in) rows.push_back(make<op::Unsqueeze>(vector, integer(1)));
  const auto together = make<op::Concat>(rows, 1);
  const auto products = make<op::MatMul>(together, together, false, true);
  std::vector<std::int64_t> places;
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t column = 0; column < row; ++column) places.push_back(row * count + column);
  }
  return make<op::Gather>(reshaped(products, {building.batch(), count * count}), integers(places), integer(1));
}

std::vector<Output> parts(const Output& x, std::int64_t axis, std::size_t count) {
  return std::make_shared<op::Split>(x, integer(axis), count)->outputs();
}

/// The parts of `x` that belong to a gate each, in another order.
Output gates(const Output& x, const std::vector<std::size_t>& order) {
  const auto apart = parts(x, 0, order.size());
  Inputs ordered;
  for (const auto gate : order) ordered.push_back(apart.at(gate));
  return make<op::Concat>(ordered, 0);
}

Output one_direction(const Output& x) {
  return make<op::Unsqueeze>(x, integer(0));
}

/// What a recurrent layer begins with, and how long its sequences are.
struct Begin {
  Begin(const GraphNode& node, std::int64_t batch) {
    const auto samples = static_cast<std::size_t>(batch), features = static_cast<std::size_t>(node.shape.at(1));
    state = op::Constant::create(ov::element::f32, {samples, 1, features}, {0.0F});
    lengths = integers(std::vector<std::int64_t>(samples, node.shape.at(0)));
  }

  Output state, lengths;
};

constexpr auto kForward = ov::op::RecurrentSequenceDirection::FORWARD;

/// OpenVINO's gates are forget, input, new, output.
Output lstm(const GraphNode& node, const Inputs& in, Building& building) {
  const std::vector<std::size_t> order{1, 0, 2, 3};
  const Begin begin(node, building.batch());
  const auto weight = [&](const char* name) { return one_direction(gates(building.parameter(node, name), order)); };
  const auto input = weight("weight"), state = weight("weight_state"), bias = weight("bias");
  const auto out = make<op::LSTMSequence>(in[0], begin.state, begin.state, begin.lengths, input, state, bias,
                                          node.shape.at(1), kForward);
  return reshaped(out, {building.batch(), node.shape.at(0), node.shape.at(1)});
}

/// OpenVINO's gates are update, reset, new; biases of the first two come as sums.
Output gru(const GraphNode& node, const Inputs& in, Building& building) {
  const std::vector<std::size_t> order{1, 0, 2};
  const Begin begin(node, building.batch());
  const auto input = one_direction(gates(building.parameter(node, "weight"), order));
  const auto state = one_direction(gates(building.parameter(node, "weight_state"), order));
  const auto rows = parts(building.parameter(node, "bias"), 0, 2);
  const auto of_input = parts(rows.at(0), 1, 3), of_state = parts(rows.at(1), 1, 3);
  const Inputs biases{make<op::Add>(of_input[1], of_state[1]), make<op::Add>(of_input[0], of_state[0]), of_input[2],
                      of_state[2]};
  const std::vector<std::string> activations{"sigmoid", "tanh"};
  const auto out = make<op::GRUSequence>(in[0], begin.state, begin.lengths, input, state, make<op::Concat>(biases, 1),
                                         node.shape.at(1), kForward, activations, std::vector<float>{},
                                         std::vector<float>{}, 0.0F, true);
  return reshaped(out, {building.batch(), node.shape.at(0), node.shape.at(1)});
}

Output real(double value) {
  return op::Constant::create(ov::element::f32, {}, {static_cast<float>(value)});
}

/// In the parts that OpenVINO knows as one operator of its own.
Output rms_norm(const GraphNode& node, const Inputs& in, Building& building) {
  const auto squares = make<op::Power>(in[0], real(2));
  const auto mean = make<op::ReduceMean>(squares, integers({-1}), true);
  const auto root = make<op::Sqrt>(make<op::Add>(mean, real(node.attribute<double>("epsilon"))));
  const auto normal = make<op::Multiply>(in[0], make<op::Divide>(real(1), root));
  return make<op::Multiply>(normal, building.parameter(node, "weight"));
}

/// Cosines and sines of angles, [positions, 1, half of a head] each.
struct Angles {
  Angles(const GraphNode& node, std::int64_t size) {
    const auto positions = node.shape.at(0), half = size / 2;
    const auto base = node.attribute<double>("base");
    std::vector<float> cosines, sines;
    for (std::int64_t position = 0; position < positions; ++position) {
      for (std::int64_t i = 0; i < half; ++i) {
        const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(size);
        const double angle = static_cast<double>(position) * std::pow(base, exponent);
        cosines.push_back(static_cast<float>(std::cos(angle)));
        sines.push_back(static_cast<float>(std::sin(angle)));
      }
    }
    const ov::Shape shape{static_cast<std::size_t>(positions), 1, static_cast<std::size_t>(half)};
    cosine = op::Constant::create(ov::element::f32, shape, cosines);
    sine = op::Constant::create(ov::element::f32, shape, sines);
  }

  Output cosine, sine;
};

/// A fixed table, the same for each sample, whatever the input holds: a batch of one.
Output sinusoids(const GraphNode& node, const Inputs&, Building&) {
  const auto positions = node.shape.at(0), features = node.shape.at(1);
  std::vector<float> values;
  for (std::int64_t position = 0; position < positions; ++position) {
    for (std::int64_t i = 0; i < features; i += 2) {
      const double exponent = -static_cast<double>(i) / static_cast<double>(features);
      const double angle = static_cast<double>(position) * std::pow(10'000.0, exponent);
      values.push_back(static_cast<float>(std::sin(angle)));
      values.push_back(static_cast<float>(std::cos(angle)));
    }
  }
  const ov::Shape shape{1, static_cast<std::size_t>(positions), static_cast<std::size_t>(features)};
  return op::Constant::create(ov::element::f32, shape, values);
}

/// Turns the two halves of each head by an angle of its position.
Output rotary(const GraphNode& node, const Inputs& in, Building& building) {
  const auto heads = node.attribute<std::int64_t>("heads");
  const auto positions = node.shape.at(0), features = node.shape.at(1);
  const Angles angles(node, features / heads);
  const auto halves = parts(reshaped(in[0], {building.batch(), positions, heads, features / heads}), 3, 2);
  const auto product = [](const Output& a, const Output& b) { return make<op::Multiply>(a, b); };
  const auto first = make<op::Subtract>(product(halves[0], angles.cosine), product(halves[1], angles.sine));
  const auto second = make<op::Add>(product(halves[1], angles.cosine), product(halves[0], angles.sine));
  return reshaped(make<op::Concat>(Inputs{first, second}, 3), {building.batch(), positions, features});
}

}  // namespace

const std::map<std::string, Operator>& sequence_operators() {
  static const std::map<std::string, Operator> table{
      {"lstm", lstm},
      {"gru", gru},
      {"pairwise_dots", pairwise_dots},
      {"rms_norm", rms_norm},
      {"rotary", rotary},
      {"sinusoids", sinusoids},
      {"to_sequence", to_sequence},
  };
  return table;
}

}  // namespace assay::openvino
