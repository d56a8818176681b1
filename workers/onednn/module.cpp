// What the program loads once settings are in place: oneDNN, its threads, and the operations.

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "assay/core/clock.hpp"
#include "workers/common/graph_values.hpp"
#include "workers/common/module.hpp"
#include "workers/onednn/operation.hpp"

namespace assay::onednn {
namespace {

void refuse_what_there_is_not(const worker::Prepare& prepare) {
  const auto& workload = prepare.workload;
  if (workload.mode == Mode::train)
    worker::refuse("mode train: {} has nothing to train. Use mode infer.", shown(workload.network));
  if (workload.data != "memory") worker::refuse("data {}: this worker has only memory.", shown(workload.data));
  if (prepare.ranks > 1) worker::refuse("{} ranks: this worker exchanges nothing. Use instances.", prepare.ranks);
  if (prepare.placement.device != "cpu")
    worker::refuse("device {} is unknown here. There is cpu.", shown(prepare.placement.device));
}

/// Standard normal numbers; for int8 whole ones that fit.
std::vector<float> draw(const worker::Prepare& prepare, const std::string& name, const Sizes& shape) {
  constexpr float kSpread = 40;
  constexpr float kMost = 127;
  const auto value = worker::draw_normal(prepare, name, shape);
  const auto* drawn = static_cast<const float*>(value.data.get());
  std::vector<float> values(drawn, drawn + value.elements());
  if (prepare.workload.precision == "int8") {
    for (auto& one : values) one = std::clamp(std::round(kSpread * one), -kMost, kMost);
  }
  return values;
}

class OneDnn : public worker::Framework {
 public:
  worker::Prepared prepare(const worker::Prepare& prepare) override {
    refuse_what_there_is_not(prepare);
    if (prepare.settings.intra_op) omp_set_num_threads(static_cast<int>(*prepare.settings.intra_op));
    operation_ = make_operation(
        prepare.workload, [&](const std::string& name, const Sizes& shape) { return draw(prepare, name, shape); });
    operation_->run();  // meets new pages, and starts the threads

    worker::Prepared prepared;
    prepared.versions = {{"onednn", library_release()}};
    prepared.parameters = 0;
    prepared.effective["intra_op"] = omp_get_max_threads();
    prepared.phases = {"forward"};
    prepared.refusals["layers"] = fmt::format("{} is a single operation.", prepare.workload.network);
    return prepared;
  }

  void step(worker::Step&) override { operation_->run(); }

  void step_with_phases(worker::Step& step) override {
    const std::int64_t begin_ns = monotonic_ns();
    operation_->run();
    step.phases_ns[0] = monotonic_ns() - begin_ns;
  }

 private:
  std::unique_ptr<Operation> operation_;
};

}  // namespace
}  // namespace assay::onednn

extern "C" assay::worker::Framework* assay_make_framework() {
  return new assay::onednn::OneDnn;
}
