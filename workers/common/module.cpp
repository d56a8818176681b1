#include "workers/common/module.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace assay::worker {
namespace {

std::unique_ptr<Framework> load_module(const std::string& file) {
  const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / file;
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // for the life of the process
  void* const found = module == nullptr ? nullptr : dlsym(module, "assay_make_framework");
  if (found == nullptr) throw std::runtime_error(fmt::format("cannot load {}: {}", path.string(), dlerror()));
  return std::unique_ptr<Framework>(reinterpret_cast<decltype(&assay_make_framework)>(found)());
}

}  // namespace

Prepared ModuleFramework::prepare(const Prepare& prepare) {
  before_loading(prepare);
  framework_ = load_module(file_);
  return framework_->prepare(prepare);
}

}  // namespace assay::worker
