#include "assay/platform/gpus.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <memory>

#include "assay/core/text/utf8.hpp"

namespace assay::platform {
namespace {

// The few declarations of NVIDIA's nvml.h that are used here, from its public documentation. The names carry versions,
// so that a library either has exactly these functions or not.
using Result = int;  // 0 is success
using Device = void*;
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

constexpr unsigned kMostGpus = 256;
constexpr unsigned kNameLength = 128;

/// The functions of an open library; all or none.
class Nvml {
 public:
  explicit Nvml(const std::string& name) : library_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) return;
    found_ = find("nvmlInit_v2", init) && find("nvmlShutdown", shutdown) && find("nvmlDeviceGetCount_v2", count) &&
             find("nvmlDeviceGetHandleByIndex_v2", handle) && find("nvmlDeviceGetName", name_of) &&
             find("nvmlDeviceGetMemoryInfo", memory) && find("nvmlSystemGetDriverVersion", driver);
    find("nvmlDeviceGetTotalEnergyConsumption", energy);  // null in old drivers
  }
  ~Nvml() {
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  bool found() const { return found_; }

  Result (*init)() = nullptr;
  Result (*shutdown)() = nullptr;
  Result (*count)(unsigned*) = nullptr;
  Result (*handle)(unsigned, Device*) = nullptr;
  Result (*name_of)(Device, char*, unsigned) = nullptr;
  Result (*memory)(Device, Memory*) = nullptr;
  Result (*driver)(char*, unsigned) = nullptr;
  Result (*energy)(Device, unsigned long long*) = nullptr;  // millijoules

 private:
  template <typename F>
  bool find(const char* symbol, F& function) {
    function = reinterpret_cast<F>(dlsym(library_, symbol));
    return function != nullptr;
  }

  void* library_;
  bool found_ = false;
};

using Text = std::array<char, kNameLength>;

std::string text_of(Text& text) {
  text.back() = '\0';
  return printable(text.data(), kNameLength);
}

Gpu read_gpu(const Nvml& nvml, unsigned index) {
  Device device = nullptr;
  Gpu gpu{"unknown", std::nullopt};
  if (nvml.handle(index, &device) != 0) return gpu;
  Text name{};
  if (nvml.name_of(device, name.data(), kNameLength) == 0) gpu.name = text_of(name);
  Memory memory{};
  if (nvml.memory(device, &memory) == 0) gpu.memory_bytes = static_cast<std::int64_t>(memory.total);
  return gpu;
}

/// Shut down when the last user has gone; null where there is none that works.
std::shared_ptr<const Nvml> open_nvml(const std::string& library) {
  auto nvml = std::make_shared<Nvml>(library);
  if (!nvml->found() || nvml->init() != 0) return nullptr;
  return {nvml.get(), [nvml](const Nvml* open) { open->shutdown(); }};
}

unsigned count_of(const Nvml& nvml) {
  unsigned count = 0;
  return nvml.count(&count) == 0 ? std::min(count, kMostGpus) : 0;
}

}  // namespace

std::optional<Gpus> read_gpus(const std::string& library) {
  const auto open = open_nvml(library);
  if (!open) return std::nullopt;
  const Nvml& nvml = *open;
  Gpus out;
  Text version{};
  if (nvml.driver(version.data(), kNameLength) == 0) out.driver = text_of(version);
  for (unsigned i = 0; i < count_of(nvml); ++i) out.gpus.push_back(read_gpu(nvml, i));
  return out;
}

std::vector<EnergyCounter> gpu_energy_counters(const std::string& library) {
  std::vector<EnergyCounter> counters;
  const auto nvml = open_nvml(library);
  if (!nvml || nvml->energy == nullptr) return counters;
  for (unsigned i = 0; i < count_of(*nvml); ++i) {
    Device device = nullptr;
    if (nvml->handle(i, &device) != 0) continue;
    auto read = [nvml, device]() -> std::optional<double> {
      unsigned long long millijoules = 0;
      if (nvml->energy(device, &millijoules) != 0) return std::nullopt;
      return static_cast<double>(millijoules) / 1e3;
    };
    if (read()) counters.push_back({"gpu " + std::to_string(i), 0, read});
  }
  return counters;
}

}  // namespace assay::platform
