#include "assay/network/cost.hpp"
#include "assay/network/network.hpp"
#include "bench/programs/published.hpp"

namespace assay::bench {
namespace {

constexpr double kBytes = 4;  // of a value in single precision
constexpr double kSentence = 64;
constexpr double kWords = 30528;

/// What the published program trains beyond our bert_base: see published_network().
struct Bert {
  double hidden = 0;
  int layers = 0;
  double words = kWords;
};

PublishedNode dense(double inputs, double outputs, double positions = kSentence) {
  return {2 * positions * inputs * outputs, {kBytes * inputs * outputs, kBytes * outputs}};
}

PublishedNode norm(double features) {
  return {0, {kBytes * features, kBytes * features}};
}

void add_encoder_layer(double h, std::vector<PublishedNode>& nodes) {
  for (int i = 0; i < 3; ++i) nodes.push_back(dense(h, h));  // query, key, value
  nodes.push_back({4 * kSentence * kSentence * h, {}});      // attention itself
  nodes.push_back(dense(h, h));
  nodes.push_back(norm(h));
  nodes.push_back(dense(h, 4 * h));
  nodes.push_back(dense(4 * h, h));
  nodes.push_back(norm(h));
}

std::vector<PublishedNode> encoder(const Bert& bert) {
  const double h = bert.hidden;
  std::vector<PublishedNode> nodes{{0, {kBytes * bert.words * h, kBytes * 512 * h, kBytes * 2 * h}}, norm(h)};
  for (int i = 0; i < bert.layers; ++i) add_encoder_layer(h, nodes);
  nodes.push_back(dense(h, h, 1));  // the pooler sees the first position
  return nodes;
}

double gradient_values(const std::vector<PublishedNode>& nodes) {
  double bytes = 0;
  for (const auto& node : nodes) {
    for (const double gradient : node.gradient_bytes) bytes += gradient;
  }
  return bytes / kBytes;
}

std::vector<PublishedNode> with_heads(const Bert& bert) {
  const double h = bert.hidden;
  auto nodes = encoder(bert);
  nodes.push_back(dense(h, h));
  nodes.push_back(norm(h));
  nodes.push_back({2 * kSentence * h * bert.words, {kBytes * bert.words}});  // its matrix is that of the words
  nodes.push_back(dense(h, 2, 1));
  return nodes;
}

std::vector<PublishedNode> our_network(const std::string& name) {
  const auto graph = network::build(name);
  const auto cost = network::cost_of(graph);
  std::vector<PublishedNode> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    PublishedNode node{cost.nodes[i].flops, {}};
    for (const auto& parameter : graph.nodes[i].parameters) {
      double values = 1;
      for (const auto size : parameter.shape) values *= static_cast<double>(size);
      node.gradient_bytes.push_back(kBytes * values);
    }
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace

std::vector<PublishedNode> published_network(const std::string& name) {
  if (name == "resnet50") return our_network(name);
  // The formula, for the words that ours has, must come to the parameters of our graph.
  ASSAY_CHECK(gradient_values(encoder({768, 12, 30522})) == gradient_values(our_network("bert_base")));
  ASSAY_CHECK(gradient_values(encoder({1024, 24, 30522})) == 335141888);
  if (name == "bert_base") return with_heads({768, 12});
  if (name == "bert_large") return with_heads({1024, 24});
  fail(ErrorKind::bad_input, "the network {} is not known; there are resnet50, bert_base and bert_large.", shown(name));
}

}  // namespace assay::bench
