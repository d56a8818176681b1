// kernel_laws FIT JUDGE: fits laws to the kernel tables in the folder FIT and says the rows of those in JUDGE, one line
// of JSON for each, beside the nearest row that was fitted and a roofline. Run by bench/kernel_laws.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "assay/predict/devices/device_laws.hpp"

namespace assay::bench {
namespace {

using predict::KernelKind;
using predict::KernelRow;

std::vector<KernelRow> rows_of(const std::filesystem::path& folder) {
  std::vector<KernelRow> all;
  for (const char* name : {"gpu_gemm.csv", "gpu_attention.csv", "gpu_nccl.csv", "nccl_allreduce.csv"}) {
    if (!std::filesystem::exists(folder / name)) continue;
    const auto rows = predict::read_kernel_table(folder / name);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

/// Rows that a nearest neighbour may be taken from are alike in this.
std::string kind_of(const KernelRow& row) {
  if (row.kind == KernelKind::product) return "product " + std::string(name_of(row.product.type));
  if (row.kind == KernelKind::collective) return name_of(row.collective.collective);
  return name_of(row.kind);
}

std::vector<double> place_of(const KernelRow& row) {
  if (row.kind == KernelKind::product) return {row.product.m, row.product.n, row.product.k};
  if (row.kind == KernelKind::collective) return {row.collective.devices, row.collective.bytes};
  const auto& work = row.attention;
  return {work.batch, work.new_tokens + work.cached_tokens, work.heads, work.key_value_heads};
}

double nearest_seconds(const KernelRow& row, const std::vector<KernelRow>& known) {
  const auto at = place_of(row);
  double seconds = row.seconds;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& other : known) {
    if (other.device != row.device || kind_of(other) != kind_of(row)) continue;
    const auto there = place_of(other);
    double distance = 0;
    for (std::size_t i = 0; i < at.size(); ++i) distance += std::pow(std::log(at[i] / there[i]), 2);
    if (distance >= least) continue;
    least = distance;
    seconds = other.seconds;
  }
  return seconds;
}

double roofline_seconds(const KernelRow& row, const predict::DeviceSheet& sheet) {
  if (row.kind == KernelKind::product) return product_roofline(row.product, sheet);
  if (row.kind == KernelKind::prefill) return prefill_roofline(row.attention, sheet);
  if (row.kind == KernelKind::decode) return decode_roofline(row.attention, sheet);
  return collective_roofline(row.collective, sheet);
}

/// Tables of one device from two sources are two devices: nccl_allreduce.csv says a100 where gpu_nccl.csv says
/// a100_sxm.
void say(const std::vector<KernelRow>& known, const std::vector<KernelRow>& judged) {
  std::map<std::string, std::vector<KernelRow>> by_device;
  for (const auto& row : known) by_device[row.device].push_back(row);
  std::vector<predict::DeviceLaws> fitted;
  std::map<std::string, std::size_t> place;
  for (const auto& [name, rows] : by_device) {
    const auto* sheet = predict::find_device_sheet(name);
    if (sheet == nullptr) continue;
    place[name] = fitted.size();
    fitted.push_back(fit_device(*sheet, rows));
  }
  std::map<std::string, predict::KernelTimes> times;
  for (const auto& row : judged) {
    const auto* sheet = predict::find_device_sheet(row.device);
    if (sheet == nullptr) {
      std::printf("%s\n", json({{"left_out", row.device}}).dump().c_str());
      continue;
    }
    auto found = times.find(row.device);
    if (found == times.end()) {
      predict::DeviceLaws own;
      own.sheet = *sheet;
      if (place.contains(row.device)) own = fitted[place[row.device]];
      found = times.emplace(row.device, predict::KernelTimes(completed(own, fitted))).first;
    }
    const auto& law = found->second.law_of(row);
    const json line{{"device", row.device},
                    {"kind", kind_of(row)},
                    {"work", place_of(row)},
                    {"measured", row.seconds},
                    {"law", found->second.seconds_of(row)},
                    {"range", law.range},
                    {"basis", name_of(law.basis)},
                    {"nearest", nearest_seconds(row, known)},
                    {"roofline", roofline_seconds(row, *sheet)}};
    std::printf("%s\n", line.dump().c_str());
  }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    assay::bench::say(assay::bench::rows_of(argv[1]), assay::bench::rows_of(argv[2]));
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "kernel_laws: %s\n", error.what());
    return error.exit_code();
  }
}
