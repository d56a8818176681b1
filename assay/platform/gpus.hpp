#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/platform/energy.hpp"

namespace assay::platform {

struct Gpu {
  std::string name;
  std::optional<std::int64_t> memory_bytes;
};

/// NVIDIA's GPUs and their driver. This code has been tried against a library that imitates NVIDIA's, never on a GPU.
struct Gpus {
  std::optional<std::string> driver;
  std::vector<Gpu> gpus;
};

/// Asks the driver's own library; null where there is none or it does not work. The library stays loaded only within
/// the call.
std::optional<Gpus> read_gpus(const std::string& library = "libnvidia-ml.so.1");

/// Energy that each GPU has used since its driver was loaded; none where the library or the GPUs do not tell. The
/// library stays loaded as long as a counter lives.
std::vector<EnergyCounter> gpu_energy_counters(const std::string& library = "libnvidia-ml.so.1");

template <typename V>
void describe(V& v, Gpu& g) {
  required(v, "name", g.name);
  v("memory_bytes", g.memory_bytes);
}

}  // namespace assay::platform
