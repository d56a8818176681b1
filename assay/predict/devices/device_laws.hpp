#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/predict/devices/kernel_table.hpp"

namespace assay::predict {

constexpr std::int64_t kDeviceVersion = 1;

struct CollectiveLaw {
  model::Collective collective = model::Collective::all_reduce;
  std::int64_t devices = 2;
  KernelLaw law;
};

template <typename V>
void describe(V& v, CollectiveLaw& c) {
  required(v, "collective", c.collective);
  required(v, "devices", c.devices);
  required(v, "law", c.law);
}

/// A device: what its maker says, and the laws of its kernels. docs/predict.md.
struct DeviceLaws {
  std::int64_t version = kDeviceVersion;
  DeviceSheet sheet;
  std::map<std::string, KernelLaw> products;  ///< by type
  std::optional<KernelLaw> prefill;
  std::optional<KernelLaw> decode;
  std::vector<CollectiveLaw> collectives;
};

template <typename V>
void describe(V& v, DeviceLaws& d) {
  required(v, "version", d.version);
  required(v, "sheet", d.sheet);
  v("products", d.products);
  v("prefill", d.prefill);
  v("decode", d.decode);
  v("collectives", d.collectives);
}

/// Fits every law that these rows of one device determine: at least 8 rows each. Precondition: they are of this sheet.
DeviceLaws fit_device(const DeviceSheet& sheet, const std::vector<KernelRow>& rows);

/// A device for each sheet of the catalogue that rows name. Rows of other devices are left out.
std::vector<DeviceLaws> fit_devices(const std::vector<KernelRow>& rows);

/// What is missing is borrowed from the nearest relative that has it, as shares of this device's data sheet, with a
/// wider range; else it is the data sheet itself. The basis of each law says which.
DeviceLaws completed(DeviceLaws device, const std::vector<DeviceLaws>& known);

/// Throws Error{bad_input} that begins with `name` for what is not a device file.
DeviceLaws parse_device(std::string_view text, const std::string& name);
DeviceLaws read_device(const std::string& path);

/// The data sheet in a file: a DeviceSheet alone, or a device file's. Throws Error{bad_input} that begins with `path`.
DeviceSheet read_sheet(const std::string& path);

/// Laws that were fitted to published tables and are part of the program, completed for every sheet of the catalogue.
const std::vector<DeviceLaws>& known_devices();

/// A name of the catalogue, or a device file where it ends with .json.
DeviceLaws find_device(const std::string& named);

/// Times of kernels on one device. Every law is there: completed() was called.
class KernelTimes {
 public:
  explicit KernelTimes(DeviceLaws device);

  const DeviceSheet& sheet() const { return device_.sheet; }
  const DeviceLaws& device() const { return device_; }
  double product(const ProductWork& work) const;
  double prefill(const AttentionWork& work) const;
  double decode(const AttentionWork& work) const;
  double collective(const CollectiveWork& work) const;

  /// The law that says a row's time.
  const KernelLaw& law_of(const KernelRow& row) const;
  double seconds_of(const KernelRow& row) const;

 private:
  const KernelLaw& product_law(ProductType type) const;
  const CollectiveLaw& collective_law(model::Collective collective, double devices) const;

  DeviceLaws device_;
  std::map<ProductType, std::vector<double>> product_;
  std::vector<double> prefill_;
  std::vector<double> decode_;
  std::map<std::pair<model::Collective, std::int64_t>, std::vector<double>> collective_;
};

}  // namespace assay::predict
