#include "assay/predict/devices/device_laws.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/core/text/file.hpp"

namespace assay::predict {
namespace {

constexpr std::size_t kLeastRows = 8;
constexpr std::size_t kMostDeviceBytes = 4u << 20;
constexpr double kBorrowedRange = 0.1;      // on top of the lender's: shares of H100 on H200
constexpr double kBorrowedAttention = 0.4;  // attention does not carry over between architectures
constexpr double kDataSheetRange = 1.1;     // a factor of 3
constexpr double kLikePower = 0.25;         // by which the power for a FLOP of relatives may differ

/// Devices whose shares are tried in turn, the nearest first.
const std::vector<std::string>& relatives_of(const std::string& name) {
  static const std::map<std::string, std::vector<std::string>> relatives{{"a100-40", {"a100-80"}},
                                                                         {"a100-80", {"a100-40"}},
                                                                         {"a100-pcie", {"a100-80", "a100-40"}},
                                                                         {"a10", {"a100-80", "a100-40"}},
                                                                         {"h100", {"h200"}},
                                                                         {"h200", {"h100"}},
                                                                         {"h20", {"h200", "h100"}},
                                                                         {"h100-pcie", {"h100", "h200"}},
                                                                         {"h100-nvl", {"h100", "h200"}},
                                                                         {"b200", {"gb200", "h200", "h100"}},
                                                                         {"gb200", {"b200", "h200", "h100"}},
                                                                         {"b300", {"b200", "gb200", "h200", "h100"}},
                                                                         {"gb300", {"gb200", "b200", "h200", "h100"}},
                                                                         {"l40", {"l40s"}},
                                                                         {"l4", {"l40s"}},
                                                                         {"rtx-pro-6000", {"l40s"}},
                                                                         {"v100", {"a100-80", "a100-40"}}};
  static const std::vector<std::string> none;
  const auto found = relatives.find(name);
  return found == relatives.end() ? none : found->second;
}

template <typename Work>
struct LawRows {
  std::vector<Work> works;
  std::vector<double> seconds;
  std::set<std::string> sources;

  void add(const Work& work, const KernelRow& row) {
    works.push_back(work);
    seconds.push_back(row.seconds);
    sources.insert(row.source);
  }
  bool enough() const { return works.size() >= kLeastRows; }
  std::string source() const {
    std::string text;
    for (const auto& one : sources) text += (text.empty() ? "" : ", ") + one;
    return text;
  }
};

KernelLaw borrowed(KernelLaw law, const std::string& lender, double wider) {
  law.basis = LawBasis::borrowed;
  law.source = fmt::format("shares of {} ({})", lender, law.source);
  law.range += wider;
  return law;
}

KernelLaw with_range(KernelLaw law) {
  law.range = kDataSheetRange;
  return law;
}

/// The first of the relatives that has such a law.
template <typename Find>
std::optional<KernelLaw> lend(const DeviceLaws& device, const std::vector<DeviceLaws>& known, double wider, Find find) {
  for (const auto& name : relatives_of(device.sheet.name)) {
    for (const auto& other : known) {
      if (other.sheet.name != name) continue;
      const KernelLaw* law = find(other);
      if (law != nullptr && law->basis == LawBasis::measured) return borrowed(*law, name, wider);
    }
  }
  return std::nullopt;
}

const KernelLaw* product_of_device(const DeviceLaws& device, const std::string& type) {
  const auto found = device.products.find(type);
  return found == device.products.end() ? nullptr : &found->second;
}

const KernelLaw* if_there(const std::optional<KernelLaw>& law) {
  return law ? &*law : nullptr;
}

bool has_collective(const DeviceLaws& device, model::Collective collective) {
  return std::any_of(device.collectives.begin(), device.collectives.end(),
                     [&](const auto& one) { return one.collective == collective; });
}

/// Large products draw all the power that a device may take, so that a relative with more watts for its peak reaches
/// more of it: GB300 over GB200. Where they differ by much they are not of one kind, and the share stays.
void scale_by_power(KernelLaw& law, const DeviceSheet& sheet, const DeviceSheet& lender) {
  const double more = sheet.watts / sheet.bf16_flops_per_second / (lender.watts / lender.bf16_flops_per_second);
  if (std::abs(more - 1) > kLikePower) return;
  for (auto& constant : law.constants) {
    if (constant.name == "efficiency") constant.value = std::min(1.0, constant.value * more);
  }
}

void complete_products(DeviceLaws& device, const std::vector<DeviceLaws>& known) {
  for (const std::string type : {"bf16", "fp8"}) {
    if (device.products.contains(type)) continue;
    const DeviceLaws* lender = nullptr;  // the last that was asked
    auto law = lend(device, known, kBorrowedRange, [&](const DeviceLaws& other) {
      lender = &other;
      return product_of_device(other, type);
    });
    if (law) {
      scale_by_power(*law, device.sheet, lender->sheet);
      device.products[type] = *law;
    } else if (type == "bf16") {
      device.products[type] = with_range(data_sheet_product_law());
    }
  }
}

void complete_collectives(DeviceLaws& device, const std::vector<DeviceLaws>& known) {
  for (const auto collective : {model::Collective::all_reduce, model::Collective::all_gather,
                                model::Collective::reduce_scatter, model::Collective::all_to_all}) {
    if (has_collective(device, collective)) continue;
    for (const std::int64_t devices : {2, 4, 8}) {
      const auto law = lend(device, known, kBorrowedRange, [&](const DeviceLaws& other) -> const KernelLaw* {
        for (const auto& one : other.collectives) {
          if (one.collective == collective && one.devices == devices) return &one.law;
        }
        return nullptr;
      });
      if (law) device.collectives.push_back({collective, devices, *law});
    }
    if (!has_collective(device, collective)) {
      device.collectives.push_back({collective, 8, with_range(data_sheet_collective_law())});
    }
  }
}

}  // namespace

DeviceLaws fit_device(const DeviceSheet& sheet, const std::vector<KernelRow>& rows) {
  std::map<std::string, LawRows<ProductWork>> products;
  LawRows<AttentionWork> prefill;
  LawRows<AttentionWork> decode;
  std::map<std::pair<model::Collective, std::int64_t>, LawRows<CollectiveWork>> collectives;
  for (const auto& row : rows) {
    if (row.kind == KernelKind::product) products[name_of(row.product.type)].add(row.product, row);
    if (row.kind == KernelKind::prefill) prefill.add(row.attention, row);
    if (row.kind == KernelKind::decode) decode.add(row.attention, row);
    if (row.kind == KernelKind::collective) {
      const auto& work = row.collective;
      collectives[{work.collective, static_cast<std::int64_t>(work.devices)}].add(work, row);
    }
  }
  DeviceLaws device;
  device.sheet = sheet;
  for (const auto& [type, found] : products) {
    if (found.enough()) device.products[type] = fit_products(found.works, found.seconds, sheet, found.source());
  }
  if (prefill.enough()) device.prefill = fit_prefill(prefill.works, prefill.seconds, sheet, prefill.source());
  if (decode.enough()) device.decode = fit_decode(decode.works, decode.seconds, sheet, decode.source());
  for (const auto& [key, found] : collectives) {
    if (!found.enough()) continue;
    device.collectives.push_back(
        {key.first, key.second, fit_collective(found.works, found.seconds, sheet, found.source())});
  }
  return device;
}

std::vector<DeviceLaws> fit_devices(const std::vector<KernelRow>& rows) {
  std::vector<DeviceLaws> devices;
  for (const auto& sheet : all_device_sheets()) {
    std::vector<KernelRow> own;
    for (const auto& row : rows) {
      if (find_device_sheet(row.device) == &sheet) own.push_back(row);
    }
    if (!own.empty()) devices.push_back(fit_device(sheet, own));
  }
  return devices;
}

DeviceLaws completed(DeviceLaws device, const std::vector<DeviceLaws>& known) {
  complete_products(device, known);
  if (!device.prefill) {
    device.prefill =
        lend(device, known, kBorrowedAttention, [](const DeviceLaws& other) { return if_there(other.prefill); });
  }
  if (!device.prefill) device.prefill = with_range(data_sheet_prefill_law());
  if (!device.decode) {
    device.decode =
        lend(device, known, kBorrowedAttention, [](const DeviceLaws& other) { return if_there(other.decode); });
  }
  if (!device.decode) device.decode = with_range(data_sheet_decode_law());
  complete_collectives(device, known);
  return device;
}

KernelTimes::KernelTimes(DeviceLaws device) : device_(std::move(device)) {
  ASSAY_CHECK(device_.products.contains("bf16") && device_.prefill && device_.decode && !device_.collectives.empty());
  for (const auto type :
       {ProductType::bf16, ProductType::fp8, ProductType::fp4, ProductType::int8, ProductType::int4}) {
    product_[type] = product_law(type).values();
  }
  prefill_ = device_.prefill->values();
  decode_ = device_.decode->values();
  for (const auto& one : device_.collectives) collective_[{one.collective, one.devices}] = one.law.values();
}

const KernelLaw& KernelTimes::product_law(ProductType type) const {
  if (const auto* own = product_of_device(device_, name_of(type))) return *own;
  const auto* fp8 = product_of_device(device_, "fp8");
  const bool narrow = type == ProductType::fp8 || type == ProductType::fp4;
  return narrow && fp8 != nullptr ? *fp8 : device_.products.at("bf16");
}

/// Of the nearest number of devices, by their ratio.
const CollectiveLaw& KernelTimes::collective_law(model::Collective collective, double devices) const {
  const CollectiveLaw* nearest = nullptr;
  const auto distance = [&](const CollectiveLaw& law) {
    return std::abs(std::log(static_cast<double>(law.devices) / devices));
  };
  for (const auto& one : device_.collectives) {
    if (one.collective != collective) continue;
    if (nearest == nullptr || distance(one) < distance(*nearest)) nearest = &one;
  }
  ASSAY_CHECK(nearest != nullptr);
  return *nearest;
}

double KernelTimes::product(const ProductWork& work) const {
  return product_seconds(work, device_.sheet, product_.at(work.type));
}

double KernelTimes::prefill(const AttentionWork& work) const {
  return prefill_seconds(work, device_.sheet, prefill_);
}

double KernelTimes::decode(const AttentionWork& work) const {
  return decode_seconds(work, device_.sheet, decode_);
}

double KernelTimes::collective(const CollectiveWork& work) const {
  const auto& law = collective_law(work.collective, work.devices);
  return collective_seconds(work, device_.sheet, collective_.at({law.collective, law.devices}));
}

const KernelLaw& KernelTimes::law_of(const KernelRow& row) const {
  switch (row.kind) {
    case KernelKind::product:
      return product_law(row.product.type);
    case KernelKind::prefill:
      return *device_.prefill;
    case KernelKind::decode:
      return *device_.decode;
    case KernelKind::collective:
      break;
  }
  return collective_law(row.collective.collective, row.collective.devices).law;
}

double KernelTimes::seconds_of(const KernelRow& row) const {
  switch (row.kind) {
    case KernelKind::product:
      return product(row.product);
    case KernelKind::prefill:
      return prefill(row.attention);
    case KernelKind::decode:
      return decode(row.attention);
    case KernelKind::collective:
      break;
  }
  return collective(row.collective);
}

}  // namespace assay::predict
