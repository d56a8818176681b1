#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"

namespace assay::platform {

/// A reading that grows with the energy used, until it wraps.
struct EnergyCounter {
  std::string name;
  double range_joules = 0;                      ///< where it begins again at 0; 0: never
  std::function<std::optional<double>()> read;  ///< joules so far; null where it cannot be read
};

/// The folder in which Linux shows RAPL; ASSAY_POWERCAP names another, for containers that have the host's elsewhere.
std::filesystem::path powercap_folder();

/// RAPL's packages, and their memory where that is counted apart. Zones inside a package are left out, because it holds
/// them; so is `psys`, which holds all packages. A zone that reads 0 is none: some virtual machines show it and never
/// count.
std::vector<EnergyCounter> rapl_counters(const std::filesystem::path& folder);

/// Sums what counters say over windows of time.
class EnergyWindows {
 public:
  EnergyWindows(std::string source, std::vector<EnergyCounter> counters);

  void begin(std::int64_t now_ns);
  void end(std::int64_t now_ns);

  /// Null where nothing counts, or where a counter could not be read at some end of a window.
  std::optional<Energy> total() const;

 private:
  using Readings = std::vector<std::optional<double>>;
  Readings read() const;

  std::string source_;
  std::vector<EnergyCounter> counters_;
  Readings before_;
  std::int64_t began_ns_ = 0;
  std::int64_t ns_ = 0;
  double joules_ = 0;
  bool whole_ = true;
};

}  // namespace assay::platform
