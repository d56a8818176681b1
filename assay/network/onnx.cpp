#include "assay/network/onnx.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "assay/network/onnx/graph.hpp"

namespace assay::network {
namespace {

/// Operators that do matrix products inside, but whose cost is not known here.
constexpr std::array<std::string_view, 7> kHeavyInside{"Einsum", "LSTM", "GRU", "RNN", "If", "Loop", "Attention"};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool is_heavy(const onnx::Node& node) {
  const auto& op = node.op;
  return contains(op, "Conv") || contains(op, "MatMul") || contains(op, "Gemm") || contains(op, "Attention") ||
         std::find(kHeavyInside.begin(), kHeavyInside.end(), op) != kHeavyInside.end();
}

/// FLOPs of the whole batch; nothing where they are not known.
std::optional<double> flops_of(const onnx::Node& node, const onnx::Values& values) {
  if (!node.domain.empty() || node.inputs.size() < 2 || node.outputs.empty()) return {};
  const auto& output = values.of(node.outputs[0]).shape;
  const auto& a = values.of(node.inputs[0]).shape;
  const auto& b = values.of(node.inputs[1]).shape;
  if (!output || !a || !b) return {};
  const auto outputs = static_cast<double>(onnx::count_of(*output));
  if (node.op == "Conv" && b->size() > 1) {
    return 2 * outputs * static_cast<double>(onnx::count_of({b->begin() + 1, b->end()}));
  }
  if (node.op == "MatMul" && !a->empty()) return 2 * outputs * static_cast<double>(a->back());
  if (node.op == "Gemm" && a->size() == 2)
    return 2 * outputs * static_cast<double>((*a)[node.integer("transA", 0) != 0 ? 0 : 1]);
  return {};
}

std::int64_t count_parameters(const onnx::Model& model) {
  std::set<std::string> statistics;
  for (const auto& node : model.nodes) {
    if (node.op != "BatchNormalization") continue;
    for (std::size_t i = 3; i < node.inputs.size(); ++i) statistics.insert(node.inputs[i]);
  }
  std::int64_t count = 0;
  for (const auto& tensor : model.initializers) {
    if (!onnx::is_real(tensor.type) || tensor.dims.empty() || statistics.count(tensor.name) != 0) continue;
    if (__builtin_add_overflow(count, onnx::count_of(tensor.dims), &count)) {
      fail(ErrorKind::bad_input, "the ONNX file has parameters beyond all bounds");
    }
  }
  return count;
}

/// Heavy operators and the chains they form; what is constant is computed once and costs nothing.
void add_heavy(const onnx::Model& model, const onnx::Values& values, OnnxSummary& summary) {
  std::map<std::string, std::int64_t> depth_of;
  double flops = 0;
  bool known = true;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const auto& node = model.nodes[i];
    if (!values.needed[i]) continue;
    std::int64_t depth = 0;
    bool constant = true;
    for (const auto& name : node.inputs) {
      if (name.empty()) continue;
      depth = std::max(depth, depth_of[name]);
      constant = constant && values.of(name).constant;
    }
    if (!constant && is_heavy(node)) {
      ++depth;
      ++summary.width.heavy;
      OnnxOperator heavy{node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name, node.op, {}, {}};
      if (!node.outputs.empty()) heavy.shape = values.of(node.outputs[0]).shape.value_or(Shape{});
      if (const auto own = flops_of(node, values)) heavy.flops = *own / static_cast<double>(values.batch);
      known = known && heavy.flops;
      flops += heavy.flops.value_or(0);
      summary.heavy.push_back(std::move(heavy));
    }
    summary.width.depth = std::max(summary.width.depth, depth);
    for (const auto& name : node.outputs) depth_of[name] = depth;
  }
  if (known) summary.flops = flops;
}

/// A file's bytes, mapped as long as this lives.
class Mapped {
 public:
  explicit Mapped(const std::filesystem::path& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
      if (fd >= 0) close(fd);
      fail(ErrorKind::usage, "{} cannot be read. Write the path of an .onnx file.", shown_path(path.string()));
    }
    size_ = static_cast<std::size_t>(about.st_size);
    if (size_ > 0) data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (data_ == MAP_FAILED) fail(ErrorKind::failure, "{} cannot be mapped", shown_path(path.string()));
  }
  ~Mapped() {
    if (data_ != nullptr) munmap(data_, size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

OnnxSummary summarize_onnx(std::string_view bytes) {
  const auto model = onnx::read_model(bytes);
  const auto values = onnx::infer_values(model);
  OnnxSummary summary;
  summary.name = model.name;
  summary.parameters = count_parameters(model);
  add_heavy(model, values, summary);
  try {
    summary.graph = onnx::to_graph(model, values);
  } catch (const Error& error) {
    summary.why_no_graph = error.what();
  }
  return summary;
}

OnnxSummary read_onnx(const std::filesystem::path& path) {
  const Mapped file(path);
  return summarize_onnx(file.bytes());
}

}  // namespace assay::network
