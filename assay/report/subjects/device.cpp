#include "assay/report/subjects/device.hpp"

#include <cmath>

namespace assay::report {
namespace {

std::string law_constants_text(const predict::KernelLaw& law) {
  std::string text;
  for (const auto& one : law.constants) {
    text += fmt::format("{}{} {:.3g}", text.empty() ? "" : ", ", one.name, one.value);
    if (one.low) text += fmt::format(" ({:.3g} to {:.3g})", *one.low, *one.high);
  }
  return text;
}

void add_law(Table& table, const std::string& kernel, const predict::KernelLaw& law) {
  const bool measured = law.basis == predict::LawBasis::measured;
  table.add({kernel, words_of(name_of(law.basis)), measured ? std::to_string(law.rows) : "",
             measured ? fmt::format("{:.1f} %", 100 * law.median_error) : "",
             fmt::format("x {:.2f}", std::exp(law.range)), law.source, law_constants_text(law)});
}

}  // namespace

Document device_document(const predict::DeviceLaws& device) {
  const auto& sheet = device.sheet;
  Document out;
  out.paragraph(fmt::format("{}: {:.4g} TFLOP/s bf16, {:.4g} GB at {:.4g} GB/s, links {:.4g} GB/s ({})", sheet.name,
                            1e-12 * sheet.bf16_flops_per_second, 1e-9 * sheet.memory_bytes,
                            1e-9 * sheet.memory_bytes_per_second, 1e-9 * sheet.link_bytes_per_second, sheet.source));
  const auto right = Table::Align::right;
  Table table({{"kernel"},
               {"rests on"},
               {"rows", right},
               {"left out", right},
               {"90 % within", right},
               {"source", Table::Align::left, 2},
               {"constants", Table::Align::left, 1}});
  for (const auto& [type, law] : device.products) add_law(table, "product " + type, law);
  if (device.prefill) add_law(table, "attention, prefill", *device.prefill);
  if (device.decode) add_law(table, "attention, decode", *device.decode);
  for (const auto& one : device.collectives) {
    add_law(table, fmt::format("{} of {}", name_of(one.collective), one.devices), one.law);
  }
  out.add(std::move(table));
  return out;
}

}  // namespace assay::report
