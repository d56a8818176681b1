// The oneDNN worker's program: oneDNN and OpenMP read their variables when the module is loaded.

#include <cstdlib>

#include "workers/common/module.hpp"
#include "workers/common/options.hpp"

namespace assay::onednn {
namespace {

class Program : public worker::ModuleFramework {
 public:
  Program() : ModuleFramework("assay-onednn.so") {}

 private:
  void before_loading(const worker::Prepare& prepare) override {
    worker::refuse_settings_beyond(prepare.settings, {"intra_op", "inter_op", "spin"});
    if (prepare.workload.precision == "fp32") worker::refuse_lowered_fp32();
    if (prepare.settings.spin) setenv("OMP_WAIT_POLICY", *prepare.settings.spin ? "active" : "passive", 1);
  }
};

}  // namespace
}  // namespace assay::onednn

int main() {
  assay::worker::Channel channel;
  assay::onednn::Program framework;
  return assay::worker::serve(channel, framework);
}
