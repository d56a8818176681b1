// The OpenVINO worker: a network compiled for the CPU, one synchronous request a step.

#include <openvino/openvino.hpp>

#include "assay/core/clock.hpp"
#include "workers/common/values.hpp"
#include "workers/openvino/network.hpp"
#include "workers/openvino/settings.hpp"

namespace assay::openvino {
namespace {

/// OpenVINO wraps what it catches in an exception of its own.
template <typename Function>
auto guarded(Function function) {
  try {
    return function();
  } catch (const ov::Exception& error) {
    if (is_out_of_memory(error.what())) throw std::bad_alloc();
    throw;
  }
}

class OpenVino : public worker::Framework {
 public:
  worker::Prepared prepare(const worker::Prepare& prepare) override {
    refuse_what_there_is_not(prepare);
    return guarded([&] { return build(prepare); });
  }

  void step(worker::Step&) override {
    guarded([&] { request_.infer(); });
  }

  void step_with_phases(worker::Step& step) override {
    const std::int64_t begin_ns = monotonic_ns();
    guarded([&] { request_.infer(); });
    step.phases_ns[0] = monotonic_ns() - begin_ns;
  }

  worker::Evaluated evaluate(const worker::Evaluate& asked) override {
    guarded([&] { request_.infer(); });
    write_output(asked.output);
    return {};
  }

  void write_output(const std::string& path) override {
    const ov::Tensor output = request_.get_output_tensor(0);
    const auto shape = output.get_shape();
    auto [value, data] = worker::make_real({shape.begin(), shape.end()});
    std::copy_n(output.data<const float>(), value.elements(), data);
    worker::write_values(path, {{"output", value}});
  }

 private:
  worker::Prepared build(const worker::Prepare& prepare) {
    Network network = prepare.file ? read_onnx(core_, prepare) : build_graph(prepare);
    compiled_ = core_.compile_model(network.model, "CPU", properties_of(prepare));
    request_ = compiled_.create_infer_request();
    for (std::size_t i = 0; i < network.inputs.size(); ++i) request_.set_input_tensor(i, network.inputs[i]);
    worker::Prepared prepared;
    prepared.versions = versions();
    prepared.parameters = network.parameters;
    prepared.effective = read_back(compiled_, prepare);
    prepared.phases = {"forward"};
    prepared.refusals["layers"] =
        "OpenVINO runs several nodes of a network as one, and their times cannot be separated.";
    return prepared;
  }

  ov::Core core_;
  ov::CompiledModel compiled_;
  ov::InferRequest request_;
};

}  // namespace
}  // namespace assay::openvino

int main() {
  assay::worker::Channel channel;
  assay::openvino::OpenVino framework;
  return assay::worker::serve(channel, framework);
}
