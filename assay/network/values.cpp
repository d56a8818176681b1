#include "assay/network/values.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>

#include "assay/core/tensors.hpp"
#include "assay/core/text/hash.hpp"

namespace assay::network {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
constexpr std::size_t kChunk = 1u << 16;
// Without this, branches add up and resnet50's outputs grow to thousands, on which training is chaotic.
constexpr double kResidualScale = 0.2;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// The batch norms that end a residual branch: of those added, the one farther from the input.
std::set<std::string> ends_of_branches(const Graph& graph) {
  std::map<std::string, std::pair<int, Op>> seen;  // depth and operator
  std::set<std::string> ends;
  for (const auto& node : graph.nodes) {
    int depth = 0;
    const std::string* end = nullptr;
    int farthest = -1;
    for (const auto& input : node.inputs) {
      const auto it = seen.find(input);
      if (it == seen.end()) continue;
      depth = std::max(depth, it->second.first);
      if (it->second.second == Op::batch_norm && it->second.first > farthest) {
        end = &input;
        farthest = it->second.first;
      }
    }
    seen[node.name] = {depth + 1, node.op};
    if (node.op == Op::add && end != nullptr) ends.insert(*end);
  }
  return ends;
}

bool slides_a_window(Op op) {
  return op == Op::convolution || op == Op::convolution3d || op == Op::dilated_convolution ||
         op == Op::transposed_convolution;
}

Fill fill_parameter(const Node& node, const Parameter& parameter, bool damped) {
  Fill fill{node.name + "/" + parameter.name, parameter.shape, 0, 0.05, 0};
  if (parameter.name == "bias") return fill;
  const auto fan_in = static_cast<double>(elements(parameter.shape)) / static_cast<double>(parameter.shape[0]);
  if (slides_a_window(node.op)) fill.half = std::sqrt(6 / fan_in);
  if (node.op == Op::lstm || node.op == Op::gru) fill.half = std::sqrt(1 / fan_in);
  if (node.op == Op::linear) fill.half = std::sqrt(3 / fan_in);
  if (node.op == Op::batch_norm || node.op == Op::layer_norm || node.op == Op::rms_norm) {
    fill.middle = damped ? kResidualScale : 1;
    fill.half = 0.1 * fill.middle;
  }
  if (node.op == Op::l2_norm) {  // as SSD begins; the norm of hundreds of channels makes each of them small
    fill.middle = 20;
    fill.half = 2;
  }
  return fill;
}

Shape with_batch(std::int64_t batch, const Shape& shape) {
  Shape all{batch};
  all.insert(all.end(), shape.begin(), shape.end());
  return all;
}

/// Writes tensors one after the other.
class Writer {
 public:
  explicit Writer(const std::filesystem::path& path)
      : path_(path), file_(std::fopen(path.c_str(), "wbe"), &std::fclose) {
    if (!file_) file_failed(errno, "write", path_.string());
  }

  void write(const void* data, std::size_t bytes) {
    if (std::fwrite(data, 1, bytes, file_.get()) != bytes) file_failed(errno, "write", path_.string());
  }

  void finish() {
    if (std::fflush(file_.get()) != 0) file_failed(errno, "write", path_.string());
  }

 private:
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

template <typename T, typename At>
void write_tensor(Writer& out, std::int64_t count, At at) {
  std::vector<T> chunk(std::min(static_cast<std::size_t>(count), kChunk));
  for (std::uint64_t done = 0; done < static_cast<std::uint64_t>(count); done += chunk.size()) {
    chunk.resize(std::min<std::size_t>(chunk.size(), static_cast<std::uint64_t>(count) - done));
    for (std::size_t i = 0; i < chunk.size(); ++i) chunk[i] = at(done + i);
    out.write(chunk.data(), chunk.size() * sizeof(T));
  }
}

}  // namespace

std::vector<Fill> fills_of(const Graph& graph, std::int64_t batch) {
  std::vector<Fill> fills;
  const auto damped = ends_of_branches(graph);
  for (const auto& node : graph.nodes) {
    for (const auto& parameter : node.parameters) {
      fills.push_back(fill_parameter(node, parameter, damped.count(node.name) > 0));
    }
    if (node.op == Op::batch_norm) {
      fills.push_back({node.name + "/mean", {node.shape[0]}, 0, 0.1, 0});
      fills.push_back({node.name + "/variance", {node.shape[0]}, 1, 0.2, 0});
    }
    if (node.name == graph.output && graph.loss == Loss::cross_entropy && !node.shape.empty()) {
      Shape shape = with_batch(batch, node.shape);
      shape.pop_back();
      fills.push_back({"target", shape, 0, 0, node.shape.back()});
    }
  }
  for (const auto& input : graph.inputs) {
    // Of unit variance.
    fills.push_back({"input/" + input.name, with_batch(batch, input.shape), 0, std::sqrt(3.0),
                     input.type == InputType::integer ? input.below.value_or(1) : 0});
  }
  return fills;
}

std::uint64_t stream_of(std::uint64_t seed, const std::string& name) {
  return static_cast<std::uint64_t>(hash_int(fmt::format("{} {}", seed, name)));
}

float real_at(std::uint64_t stream, std::uint64_t index, double middle, double half) {
  const auto upper = static_cast<float>(mix(stream + (index + 1) * kGolden) >> 40);  // 24 bits: exact
  return static_cast<float>(middle - half) + static_cast<float>(2 * half / (1 << 24)) * upper;
}

std::int64_t integer_at(std::uint64_t stream, std::uint64_t index, std::int64_t below) {
  return static_cast<std::int64_t>((mix(stream + (index + 1) * kGolden) >> 40) * static_cast<std::uint64_t>(below) >>
                                   24);
}

void write_values(const Graph& graph, std::int64_t batch, std::uint64_t seed, const std::filesystem::path& file) {
  const auto fills = fills_of(graph, batch);
  std::map<std::string, TensorPlace> places;
  std::int64_t at = 0;
  for (const auto& fill : fills) {
    const auto type = fill.below > 0 ? TensorType::i64 : TensorType::f32;
    const std::int64_t bytes = elements(fill.shape) * bytes_of(type);
    places[fill.name] = {type, fill.shape, at, at + bytes};
    at += bytes;
  }
  Writer out(file);
  const std::string header = tensors_header(places);
  out.write(header.data(), header.size());
  for (const auto& fill : fills) {
    const std::uint64_t stream = stream_of(seed, fill.name);
    if (fill.below > 0) {
      write_tensor<std::int64_t>(out, elements(fill.shape),
                                 [&](std::uint64_t i) { return integer_at(stream, i, fill.below); });
    } else {
      write_tensor<float>(out, elements(fill.shape),
                          [&](std::uint64_t i) { return real_at(stream, i, fill.middle, fill.half); });
    }
  }
  out.finish();
}

}  // namespace assay::network
