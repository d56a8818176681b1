#pragma once

#include <string>
#include <vector>

#include "assay/network/graph.hpp"

namespace assay::network {

/// How windows of a convolution or a pool lie over an image.
struct Window {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> stride{1, 1};
  std::vector<std::int64_t> padding{0, 0};
};

/// A square window.
Window square(std::int64_t kernel, std::int64_t stride = 1, std::int64_t padding = 0);

/// Writes a graph node by node. Each function adds one and returns its name, for the inputs of later ones.
class Builder {
 public:
  explicit Builder(std::string name);

  std::string image(std::int64_t channels, std::int64_t size);
  std::string numbers(const std::string& name, std::int64_t count);
  std::string volume(std::int64_t channels, std::int64_t size);
  std::string tokens(const std::string& name, std::int64_t positions, std::int64_t below);

  std::string convolution(const std::string& name, const std::string& input, std::int64_t channels,
                          const Window& window, std::int64_t groups = 1, bool bias = false);
  /// Of stride 1, with padding so that the output is as large as the input.
  std::string dilated_convolution(const std::string& name, const std::string& input, std::int64_t channels,
                                  std::int64_t kernel, std::int64_t dilation, bool bias = false);
  /// With a bias.
  std::string transposed_convolution(const std::string& name, const std::string& input, std::int64_t channels,
                                     std::int64_t kernel, std::int64_t stride);
  /// Over a volume, of stride 1, with a bias and with padding so that the output is as large as the input: where that
  /// is odd, one more behind.
  std::string convolution3d(const std::string& name, const std::string& input, std::int64_t channels,
                            std::int64_t kernel);
  std::string linear(const std::string& name, const std::string& input, std::int64_t features, bool bias = true);
  /// A linear node without a weight of its own.
  std::string linear_with_weight_of(const std::string& name, const std::string& input, const std::string& owner,
                                    std::int64_t features);
  std::string batch_norm(const std::string& name, const std::string& input, double epsilon);
  std::string layer_norm(const std::string& name, const std::string& input, double epsilon);
  std::string rms_norm(const std::string& name, const std::string& input, double epsilon);
  /// A convolution without bias and the norm after it, "name.conv" and "name.bn": how most image networks are made.
  std::string normed_convolution(const std::string& name, const std::string& input, std::int64_t channels,
                                 const Window& window, double epsilon, std::int64_t groups = 1);
  std::string max_pool(const std::string& name, const std::string& input, const Window& window, bool ceil = false);
  /// Of a volume, in blocks of size x size x size.
  std::string max_pool3d(const std::string& name, const std::string& input, std::int64_t size);
  std::string average_pool(const std::string& name, const std::string& input, const Window& window,
                           bool count_padding = true);
  /// Enlarged to size x size.
  std::string resize(const std::string& name, const std::string& input, std::int64_t size);
  std::string leaky_relu(const std::string& name, const std::string& input, double slope);
  std::string dropout(const std::string& name, const std::string& input, double probability);
  std::string concat(const std::string& name, std::vector<std::string> inputs);
  std::string embedding(const std::string& name, const std::string& input, std::int64_t rows, std::int64_t features);
  /// An embedding with the table of another.
  std::string embedding_with_table_of(const std::string& name, const std::string& input, const std::string& owner,
                                      std::int64_t rows, std::int64_t features);
  std::string position_embedding(const std::string& name, const std::string& input, std::int64_t rows,
                                 std::int64_t features);
  /// Positions that are computed, not learned.
  std::string sinusoids(const std::string& name, const std::string& input, std::int64_t features);
  /// Positions that are the same for each sample and stand for nothing in the input, such as a class token.
  std::string learned_tokens(const std::string& name, const std::string& input, std::int64_t count,
                             std::int64_t features);
  std::string attention(const std::string& name, const std::vector<std::string>& queries_keys_values,
                        std::int64_t heads, bool causal, double dropout);
  /// Keys and values may be of another length, and have `key_heads` heads.
  std::string cross_attention(const std::string& name, const std::vector<std::string>& queries_keys_values,
                              std::int64_t heads, std::int64_t key_heads, bool causal, double dropout);
  std::string rotary(const std::string& name, const std::string& input, std::int64_t heads, double base);
  /// A recurrent layer that begins with a state of zeros and gives the state of each position. `op`: lstm or gru.
  std::string recurrent(Op op, const std::string& name, const std::string& input, std::int64_t features);
  std::string select(const std::string& name, const std::string& input, std::int64_t index);
  std::string slice(const std::string& name, const std::string& input, std::int64_t begin, std::int64_t length);
  /// An operator without attributes: activations, add, multiply, flatten, global_average_pool, l2_norm, to_sequence,
  /// pairwise_dots, softmax.
  std::string plain(Op op, const std::string& name, std::vector<std::string> inputs);

  /// The whole graph, checked, with shapes and parameters.
  Graph finish(const std::string& output, Loss loss = Loss::cross_entropy);

 private:
  std::string add(Op op, const std::string& name, std::vector<std::string> inputs, Attributes attributes);

  Graph graph_;
};

}  // namespace assay::network
