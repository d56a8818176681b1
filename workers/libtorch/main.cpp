// The libtorch worker's program. It does not link libtorch: OpenMP and MKL read their variables when they are loaded,
// so that they are loaded, with the module beside this program, once the settings are known.

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "workers/common/options.hpp"
#include "workers/libtorch/module.hpp"

namespace assay::libtorch {
namespace {

std::unique_ptr<worker::Framework> load_module() {
  const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / kModule;
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // for the life of the process
  auto* const make = module == nullptr ? nullptr : reinterpret_cast<MakeFramework*>(dlsym(module, kMakeFramework));
  if (make == nullptr) throw std::runtime_error(fmt::format("cannot load {}: {}", path.string(), dlerror()));
  return std::unique_ptr<worker::Framework>(make());
}

void set_variables(const Settings& settings) {
  if (settings.library_threads) {
    const std::string threads = std::to_string(*settings.library_threads);
    for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) setenv(name, threads.c_str(), 1);
  }
  if (settings.spin) setenv("OMP_WAIT_POLICY", *settings.spin ? "active" : "passive", 1);
}

class Loaded : public worker::Framework {
 public:
  worker::Prepared prepare(const worker::Prepare& prepare) override {
    worker::refuse_settings_beyond(prepare.settings, {"intra_op", "inter_op", "library_threads", "spin", "layout"});
    set_variables(prepare.settings);
    framework_ = load_module();
    return framework_->prepare(prepare);
  }

  void step(worker::Step& step) override { framework_->step(step); }
  void step_with_phases(worker::Step& step) override { framework_->step_with_phases(step); }
  void step_with_layers(worker::Step& step) override { framework_->step_with_layers(step); }
  worker::Evaluated evaluate(const worker::Evaluate& asked) override { return framework_->evaluate(asked); }
  void write_output(const std::string& path) override { framework_->write_output(path); }

 private:
  std::unique_ptr<worker::Framework> framework_;
};

}  // namespace
}  // namespace assay::libtorch

int main() {
  assay::worker::Channel channel;
  assay::libtorch::Loaded framework;
  return assay::worker::serve(channel, framework);
}
