#pragma once

#include "workers/libtorch/building.hpp"
#include "workers/libtorch/model.hpp"

namespace assay::libtorch {

/// The graph of `prepare`. Refuses by name an operator that libtorch is not given here.
worker::Graph graph_of(const worker::Prepare& prepare);

/// A graph of Assay's. Values are in slots: those of the inputs first, then one for each node.
class Network : public Model {
 public:
  struct Node {
    std::string name;
    Call call;
    std::vector<std::size_t> inputs;     ///< slots
    std::size_t output = 0;              ///< slot
    std::vector<std::size_t> last_uses;  ///< slots that nobody needs afterwards
  };

  /// With weights, inputs and target from a file or drawn; where digits are learnt, inputs and target are shown later.
  /// Fails where it has not the parameters that the graph says; refuses what it cannot build.
  explicit Network(const worker::Prepare& prepare);

  Tensor forward() override;
  Tensor loss(const Tensor& output) const override;
  Tensors parameters() const override;

  const Tensors& inputs() const { return inputs_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<std::pair<std::string, Tensor>>& named_parameters() const { return named_parameters_; }
  /// Of the output as the graph says it, with the batch in front.
  const Sizes& output_shape() const { return output_shape_; }

  /// For those who run the nodes one by one: slots with the inputs in them, one node, and the output at the end.
  void begin(Tensors& slots) const;
  static void run(const Node& node, Tensors& slots);
  Tensor end(Tensors& slots) const;

  /// The batch of what comes next, of networks with one input.
  void show(const worker::Value& input, const worker::Value& target);

  /// Gives parameters and running statistics their first values again: of the file, or drawn where digits are learnt.
  void fill_again();
  /// Gives them those of another network from the same graph.
  void fill_as(const Network& other);

 private:
  void add_nodes(const worker::Graph& graph, Building& building);
  void note_last_uses();

  Form form_;
  Tensors inputs_, slots_;
  std::optional<Tensor> target_;  ///< none where the loss needs none
  std::vector<Node> nodes_;
  std::size_t output_ = 0;
  Sizes output_shape_;
  std::vector<std::pair<std::string, Tensor>> named_parameters_;
  std::vector<Filled> filled_;
};

}  // namespace assay::libtorch
