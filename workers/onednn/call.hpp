#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "workers/onednn/operation.hpp"

namespace assay::onednn {

/// What the operations are made from: options, precision, and tensors that are filled from a source.
class Workshop {
 public:
  Workshop(const Workload& workload, const PrimitiveOptions& options, const Source& source);

  std::int64_t size(const char* option) const { return options_.at(option); }
  std::string choice(const char* option) const { return options_.choices.at(option); }
  std::int64_t batch() const { return batch_; }
  const PrimitiveOptions& options() const { return options_; }
  const dnnl::engine& engine() const { return engine_; }
  dnnl::stream& stream() { return stream_; }

  dnnl::memory::data_type type() const { return type_; }
  /// Products of int8 are added up, and given, in 32 bits.
  dnnl::memory::data_type result_type() const;

  /// A tensor whose layout is oneDNN's to choose.
  static dnnl::memory::desc any(const Sizes& shape, dnnl::memory::data_type type);
  /// The last dimension runs fastest.
  static dnnl::memory::desc plain(const Sizes& shape, dnnl::memory::data_type type);

  /// A tensor laid out as `wanted`, with the values that the source has for this name.
  dnnl::memory filled(const std::string& name, const dnnl::memory::desc& wanted);
  dnnl::memory empty(const dnnl::memory::desc& wanted) { return {wanted, engine_}; }

 private:
  const PrimitiveOptions& options_;
  const Source& source_;
  std::int64_t batch_;
  dnnl::memory::data_type type_;
  dnnl::engine engine_;
  dnnl::stream stream_;
};

/// One primitive of oneDNN on fixed tensors.
class Call : public Operation {
 public:
  /// `output`: which of the arguments is the result.
  Call(Workshop& workshop, dnnl::primitive primitive, std::unordered_map<int, dnnl::memory> arguments, int output)
      : stream_(workshop.stream()),
        primitive_(std::move(primitive)),
        arguments_(std::move(arguments)),
        output_(output) {}

  void run() override {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }
  std::vector<float> result() const override;

 private:
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
  int output_;
};

std::unique_ptr<Operation> make_gemm(Workshop& workshop);
std::unique_ptr<Operation> make_batched_gemm(Workshop& workshop);
std::unique_ptr<Operation> make_convolution(Workshop& workshop);
std::unique_ptr<Operation> make_rnn(Workshop& workshop);
std::unique_ptr<Operation> make_layer_norm(Workshop& workshop);

/// Not of oneDNN, which has no such primitive: loops of ours over its threads (OpenMP's).
std::unique_ptr<Operation> make_copy(Workshop& workshop);
std::unique_ptr<Operation> make_triad(Workshop& workshop);

}  // namespace assay::onednn
