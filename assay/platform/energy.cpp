#include "assay/platform/energy.hpp"

#include <algorithm>
#include <cstdlib>

#include "assay/platform/proc.hpp"

namespace assay::platform {
namespace {

namespace fs = std::filesystem;

/// "intel-rapl:0" and "intel-rapl:0:1", on processors of AMD too; not "intel-rapl-mmio:0", which counts the same again.
bool is_zone(const std::string& name) {
  return name.starts_with("intel-rapl:");
}

bool is_counted(const std::string& label) {
  return label.starts_with("package") || label == "dram";
}

std::optional<double> read_microjoules(const std::string& file) {
  const auto value = read_integer_file(file);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<double>(*value) / 1e6;
}

}  // namespace

fs::path powercap_folder() {
  const char* named = std::getenv("ASSAY_POWERCAP");
  return named != nullptr && *named != '\0' ? named : "/sys/class/powercap";
}

std::vector<EnergyCounter> rapl_counters(const fs::path& folder) {
  std::vector<EnergyCounter> counters;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto zone = entry.path().filename().string();
    const auto label = read_word(entry.path() / "name").value_or("");
    if (!is_zone(zone) || !is_counted(label)) continue;
    const auto file = (entry.path() / "energy_uj").string();
    if (read_microjoules(file).value_or(0) <= 0) continue;
    const double range = read_microjoules(entry.path() / "max_energy_range_uj").value_or(0);
    counters.push_back({zone + " " + label, range, [file] { return read_microjoules(file); }});
  }
  std::sort(counters.begin(), counters.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return counters;
}

EnergyWindows::EnergyWindows(std::string source, std::vector<EnergyCounter> counters)
    : source_(std::move(source)), counters_(std::move(counters)) {}

EnergyWindows::Readings EnergyWindows::read() const {
  Readings readings;
  readings.reserve(counters_.size());
  for (const auto& counter : counters_) readings.push_back(counter.read());
  return readings;
}

void EnergyWindows::begin(std::int64_t now_ns) {
  before_ = read();
  began_ns_ = now_ns;
}

void EnergyWindows::end(std::int64_t now_ns) {
  const auto after = read();
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (!before_.at(i) || !after[i]) {
      whole_ = false;
      continue;
    }
    double used = *after[i] - *before_[i];
    if (used < 0) {
      whole_ = whole_ && counters_[i].range_joules > 0;
      used += counters_[i].range_joules;
    }
    joules_ += used;
  }
  ns_ += now_ns - began_ns_;
}

std::optional<Energy> EnergyWindows::total() const {
  if (!whole_ || joules_ <= 0 || ns_ <= 0) return std::nullopt;
  Energy energy{source_, joules_, ns_, {}};
  for (const auto& counter : counters_) energy.counters.push_back(counter.name);
  return energy;
}

}  // namespace assay::platform
