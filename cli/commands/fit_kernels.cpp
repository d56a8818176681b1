#include "cli/commands/fit_kernels.hpp"

#include "assay/predict/devices/device_laws.hpp"
#include "assay/report/subjects/device.hpp"
#include "cli/output.hpp"

namespace assay::cli {
namespace {

using predict::DeviceLaws;

std::vector<predict::KernelRow> rows_of_tables(const std::vector<std::string>& tables) {
  std::vector<predict::KernelRow> rows;
  for (const auto& path : tables) {
    const auto found = predict::read_kernel_table(path);
    rows.insert(rows.end(), found.begin(), found.end());
  }
  return rows;
}

/// The rows of one device: those that name it, and those of tables without a column for it.
DeviceLaws fit_one(const KernelFlags& flags) {
  const bool own = flags.device.ends_with(".json");
  const auto sheet = own ? predict::read_sheet(flags.device) : predict::device_sheet(flags.device);
  std::vector<predict::KernelRow> rows;
  for (const auto& row : rows_of_tables(flags.tables)) {
    const auto* named = predict::find_device_sheet(row.device);
    if (row.device.empty() || row.device == sheet.name || (named != nullptr && named->name == sheet.name)) {
      rows.push_back(row);
    }
  }
  if (rows.empty()) {
    fail(ErrorKind::usage, "--kernels: no row is of {}. The column gpu says which device a row is of.", sheet.name);
  }
  return fit_device(sheet, rows);
}

std::vector<DeviceLaws> devices_of(const KernelFlags& flags) {
  if (flags.tables.empty()) return {predict::find_device(flags.device)};
  if (!flags.device.empty()) return {fit_one(flags)};
  auto devices = predict::fit_devices(rows_of_tables(flags.tables));
  if (devices.empty()) {
    fail(
        ErrorKind::usage,
        "--kernels: the column gpu names no device of the catalogue. --device NAME says which device the rows are of.");
  }
  return devices;
}

}  // namespace

void add_kernel_flags(CLI::App& command, KernelFlags& flags) {
  command
      .add_option("--kernels", flags.tables,
                  "Fit laws of products, attention and collectives to these CSV tables; with --out, a device file")
      ->type_name("FILE")
      ->delimiter(',');
  command
      .add_option("--device", flags.device,
                  "Say which device --kernels measured: a name of the catalogue, or a data sheet (.json); alone, show "
                  "the laws that are known of it")
      ->type_name("NAME");
}

void fit_kernels(const KernelFlags& flags, const std::string& out, const AnswerFlags& wanted) {
  const auto devices = devices_of(flags);
  if (!out.empty()) {
    if (devices.size() > 1) {
      fail(ErrorKind::usage, "--out: the tables are of {} devices. Choose one with --device.", devices.size());
    }
    write_output(out, to_json(devices.front()).dump(2) + "\n");
  }
  report::Document document;
  for (const auto& device : devices) {
    if (!document.empty()) document.gap();
    document.append(report::device_document(device));
  }
  answer(wanted, document, [&] { return json{{"devices", to_json(devices)}}; });
}

}  // namespace assay::cli
