// The blas worker's program: which library is said by BLAS_LIBRARY, and it is loaded once the settings are known.

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "assay/core/clock.hpp"
#include "workers/blas/product.hpp"
#include "workers/common/graph_values.hpp"
#include "workers/common/options.hpp"
#include "workers/common/worker.hpp"

namespace assay::blas {
namespace {

constexpr const char* kStandard = "eigen";  // always there

void refuse_what_there_is_not(const worker::Prepare& prepare) {
  const auto& workload = prepare.workload;
  worker::refuse_settings_beyond(prepare.settings, {"intra_op", "inter_op"});
  if (workload.mode == Mode::train)
    worker::refuse("mode train: {} has nothing to train. Use mode infer.", shown(workload.network));
  if (workload.data != "memory") worker::refuse("data {}: this worker has only memory.", shown(workload.data));
  if (prepare.ranks > 1) worker::refuse("{} ranks: this worker exchanges nothing. Use instances.", prepare.ranks);
  if (prepare.placement.device != "cpu")
    worker::refuse("device {} is unknown here. There is cpu.", shown(prepare.placement.device));
}

Library open_library(const worker::Prepare& prepare) {
  const char* asked = std::getenv("BLAS_LIBRARY");
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  auto library = Library::open(asked == nullptr ? kStandard : asked, folder);
  if (prepare.settings.intra_op) library.set_threads(static_cast<int>(*prepare.settings.intra_op));
  check_small_product(library);
  return library;
}

class Blas : public worker::Framework {
 public:
  worker::Prepared prepare(const worker::Prepare& prepare) override {
    refuse_what_there_is_not(prepare);
    const auto shape = shape_of(prepare.workload);
    const auto library = open_library(prepare);
    product_.emplace(library, shape, [&](const std::string& name, const std::vector<std::int64_t>& sizes) {
      const auto value = worker::draw_normal(prepare, name, sizes);
      const auto* drawn = static_cast<const float*>(value.data.get());
      return std::vector<float>(drawn, drawn + value.elements());
    });
    product_->run();  // meets new pages, and starts the threads
    product_->check();

    worker::Prepared prepared;
    prepared.versions = {{library.name(), library.release()}};
    prepared.parameters = 0;
    prepared.effective["library"] = library.name();
    if (const auto threads = library.threads()) prepared.effective["intra_op"] = *threads;
    if (const auto kernels = library.kernels()) prepared.effective["kernels"] = *kernels;
    if (shape.batch > 1) prepared.effective["batch_function"] = library.batch_function();
    prepared.phases = {"forward"};
    prepared.refusals["layers"] = fmt::format("{} is a single operation.", prepare.workload.network);
    return prepared;
  }

  void step(worker::Step&) override { product_->run(); }

  void step_with_phases(worker::Step& step) override {
    const std::int64_t begin_ns = monotonic_ns();
    product_->run();
    step.phases_ns[0] = monotonic_ns() - begin_ns;
  }

 private:
  std::optional<Product> product_;
};

}  // namespace
}  // namespace assay::blas

int main() {
  assay::worker::Channel channel;
  assay::blas::Blas framework;
  return assay::worker::serve(channel, framework);
}
