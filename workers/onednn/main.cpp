// The oneDNN worker's program. It links neither oneDNN nor OpenMP: libraries read their variables when they are loaded,
// so that they are loaded, as one module beside this program, once the settings are known.

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "workers/common/options.hpp"
#include "workers/common/worker.hpp"
#include "workers/onednn/module.hpp"

namespace assay::onednn {
namespace {

std::unique_ptr<worker::Framework> load_module() {
  const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / kModule;
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // for the life of the process
  auto* const make = module == nullptr ? nullptr : reinterpret_cast<MakeFramework*>(dlsym(module, kMakeFramework));
  if (make == nullptr) throw std::runtime_error(fmt::format("cannot load {}: {}", path.string(), dlerror()));
  return std::unique_ptr<worker::Framework>(make());
}

class Loaded : public worker::Framework {
 public:
  worker::Prepared prepare(const worker::Prepare& prepare) override {
    worker::refuse_settings_beyond(prepare.settings, {"intra_op", "inter_op", "spin"});
    if (prepare.workload.precision == "fp32") worker::refuse_lowered_fp32();
    if (prepare.settings.spin) setenv("OMP_WAIT_POLICY", *prepare.settings.spin ? "active" : "passive", 1);
    framework_ = load_module();
    return framework_->prepare(prepare);
  }

  void step(worker::Step& step) override { framework_->step(step); }
  void step_with_phases(worker::Step& step) override { framework_->step_with_phases(step); }

 private:
  std::unique_ptr<worker::Framework> framework_;
};

}  // namespace
}  // namespace assay::onednn

int main() {
  assay::worker::Channel channel;
  assay::onednn::Loaded framework;
  return assay::worker::serve(channel, framework);
}
