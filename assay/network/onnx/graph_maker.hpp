#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "assay/network/graph.hpp"
#include "assay/network/onnx/values.hpp"

namespace assay::network::onnx {

/// A graph that grows node by node, and what operators.cpp must know of the file to add to it.
class GraphMaker {
 public:
  GraphMaker(const Model& model, const Values& values);
  Graph run();

  std::int64_t opset() const { return model_.opset; }

  /// Of a value, with the batch in front. Throws Error{bad_input} where it is not known.
  const Shape& shape(const std::string& value) const;
  /// Of the value as a constant; nothing where it is none, or left out.
  std::optional<std::vector<std::int64_t>> integers(const Node& node, std::size_t input) const;
  std::optional<double> real(const Node& node, std::size_t input) const;
  /// The stored tensor of reals that an input is, where it has `rank` dimensions; else null.
  const Tensor* parameter(const Node& node, std::size_t input, std::size_t rank) const;
  /// The node whose output a value is; null for inputs of the network and stored tensors.
  const Node* maker(const std::string& value) const;
  /// The only node that uses a value; null where there are several, or it is the network's output.
  const Node* only_user(const std::string& value) const;
  /// The node that uses a stored weight first, and whether the weight lies as in Assay's graphs or transposed.
  struct Owner {
    std::string node;
    bool transposed = false;
  };
  std::optional<Owner> owner(const std::string& weight) const;

  /// Adds a node. Its output is that of `node`, or of `last` where that one becomes part of it.
  void add(Op op, const Node& node, const std::vector<std::string>& values, Attributes attributes = {},
           const Node* last = nullptr);
  /// The node added last uses this stored weight first.
  void own(const std::string& weight, bool transposed = false);
  /// The output of `node` is its first input.
  void alias(const Node& node);
  /// Integers of the network's input that `value` is are below this.
  void bound_integers(const std::string& value, std::int64_t below);

 private:
  void add_input(const ValueInfo& input);
  std::string unique(const std::string& value);

  const Model& model_;
  const Values& values_;
  std::map<std::string, const Tensor*> tensors_;
  std::map<std::string, const Node*> makers_;              ///< by output
  std::map<std::string, std::vector<const Node*>> users_;  ///< by input; the network's end is null
  std::map<std::string, std::string> names_;               ///< of values in the graph
  std::map<std::string, Owner> owners_;                    ///< of stored weights
  std::set<std::string> taken_;
  std::set<const Node*> fused_;
  Graph graph_;
};

/// Adds what computes a node of the file. Throws Error{bad_input} that names it where there is no counterpart.
void add_counterpart(GraphMaker& maker, const Node& node);

/// Throws the error that names a node: "operator 'Conv' (node 'a'): WHY among Assay's operators".
[[noreturn]] void no_counterpart(const Node& node, const std::string& why);

}  // namespace assay::network::onnx
