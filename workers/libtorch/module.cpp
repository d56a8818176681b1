// What the program loads once settings are in place: libtorch, and steps on it.

#include "workers/common/module.hpp"

#include <fmt/ranges.h>

#include "workers/libtorch/learning.hpp"
#include "workers/libtorch/script.hpp"
#include "workers/libtorch/settings.hpp"
#include "workers/libtorch/steps.hpp"

namespace assay::libtorch {
namespace {

constexpr int kProfiledRuns = 3;  // TorchScript looks at its first runs, and then compiles

bool is_out_of_memory(const std::string& message) {
  const auto says = [&](const char* part) { return message.find(part) != std::string::npos; };
  return says("DefaultCPUAllocator") || says("not enough memory") || says("std::bad_alloc");
}

/// libtorch has an exception of its own, also for want of memory; its full text has a trace of calls.
template <typename Function>
auto guarded(Function function) {
  try {
    return function();
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    if (is_out_of_memory(message)) throw std::bad_alloc();
    throw std::runtime_error(message);
  }
}

class LibTorch : public worker::Framework {
 public:
  worker::Prepared prepare(const worker::Prepare& prepare) override {
    refuse_what_there_is_not(prepare);
    return guarded([&] {
      apply_settings(prepare);
      return learns(prepare) ? build_learning(prepare) : build(prepare);
    });
  }

  void step(worker::Step&) override {
    guarded([&] { steps_->step(); });
  }

  void step_with_phases(worker::Step& step) override {
    guarded([&] { steps_->step_with_phases(step); });
  }

  void step_with_layers(worker::Step& step) override {
    guarded([&] { steps_->step_with_layers(*network_, step); });
  }

  worker::Evaluated evaluate(const worker::Evaluate& asked) override {
    return guarded([&]() -> worker::Evaluated {
      if (!network_)
        worker::refuse("evaluate: files cannot, and what learns digits says what it computes by its losses.");
      if (trains_) return train(*network_, asked);
      steps_->step();
      write_output(asked.output);
      return {};
    });
  }

  worker::Scored score() override {
    return guarded([&] { return steps_->score(); });
  }

  void write_output(const std::string& path) override {
    guarded([&] {
      const Tensor output = steps_->output();
      const auto& wanted = network_->output_shape();
      if (output.sizes() != at::IntArrayRef(wanted)) {
        throw std::runtime_error(fmt::format("the output has the shape [{}], the graph says [{}]",
                                             fmt::join(output.sizes().begin(), output.sizes().end(), ", "),
                                             fmt::join(wanted.begin(), wanted.end(), ", ")));
      }
      const Tensor plain = output.to(at::kFloat).contiguous();
      auto [value, data] = worker::make_real(wanted);
      std::copy_n(plain.const_data_ptr<float>(), value.elements(), data);
      worker::write_values(path, {{"output", value}});
    });
  }

 private:
  worker::Prepared build(const worker::Prepare& prepare) {
    trains_ = prepare.workload.mode == Mode::train;
    worker::Prepared prepared;
    if (prepare.file) {
      script_ = std::make_unique<Script>(prepare);
      prepared.refusals["layers"] = "the nodes of a user's network are not known.";
    } else {
      network_ = std::make_unique<Network>(prepare);
    }
    Model& model = prepare.file ? static_cast<Model&>(*script_) : *network_;
    prepared.effective = read_back(prepare, prepare.file ? script_->inputs() : network_->inputs());
    steps_ = trains_ ? make_training(model) : make_inference(model);
    for (int i = 0; prepare.file && i < kProfiledRuns; ++i) steps_->step();
    prepared.versions = versions();
    prepared.parameters = model.parameter_count();
    prepared.phases = steps_->phases();
    if (network_) prepared.nodes = steps_->layers(*network_);
    return prepared;
  }

  /// Steps on digits, which are not split.
  worker::Prepared build_learning(const worker::Prepare& prepare) {
    auto learning = std::make_unique<LearningSteps>(prepare);
    worker::Prepared prepared;
    prepared.versions = versions();
    prepared.parameters = learning->parameter_count();
    prepared.effective = read_back(prepare, learning->inputs());
    // Strides do not tell it of images with one channel.
    prepared.effective["layout"] = prepare.settings.layout.value_or("nchw");
    for (const char* detail : {"phases", "layers"}) {
      prepared.refusals[detail] = "a training that ends at an accuracy is taken as a whole.";
    }
    steps_ = std::move(learning);
    return prepared;
  }

  bool trains_ = false;
  std::unique_ptr<Network> network_;  ///< or
  std::unique_ptr<Script> script_;
  std::unique_ptr<Steps> steps_;
};

}  // namespace
}  // namespace assay::libtorch

extern "C" assay::worker::Framework* assay_make_framework() {
  return new assay::libtorch::LibTorch;
}
