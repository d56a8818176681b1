// The libtorch worker's program: OpenMP and MKL read their variables when the module is loaded.

#include <cstdlib>

#include "workers/common/module.hpp"
#include "workers/common/options.hpp"

namespace assay::libtorch {
namespace {

class Program : public worker::ModuleFramework {
 public:
  Program() : ModuleFramework("assay-libtorch.so") {}

 private:
  void before_loading(const worker::Prepare& prepare) override {
    const auto& settings = prepare.settings;
    worker::refuse_settings_beyond(settings, {"intra_op", "inter_op", "library_threads", "spin", "layout"});
    if (settings.library_threads) {
      const std::string threads = std::to_string(*settings.library_threads);
      for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) setenv(name, threads.c_str(), 1);
    }
    if (settings.spin) setenv("OMP_WAIT_POLICY", *settings.spin ? "active" : "passive", 1);
  }
};

}  // namespace
}  // namespace assay::libtorch

int main() {
  assay::worker::Channel channel;
  assay::libtorch::Program framework;
  return assay::worker::serve(channel, framework);
}
