#include "assay/report/subjects/workers/equality.hpp"

#include "assay/report/table.hpp"

namespace assay::report {
namespace {

std::string shown_error(const std::optional<double>& error) {
  return error ? fmt::format("{:.1e}", *error) : "-";
}

}  // namespace

Document equality_document(const std::vector<vet::EqualityResult>& results, bool trains) {
  constexpr auto kNumber = Table::Align::right;
  Table table({{"worker"},
               {"release"},
               {"parameters", kNumber},
               {trains ? "gradient" : "output", kNumber},
               {trains ? "loss" : "spread", kNumber},
               {"equal"}});
  for (const auto& r : results) {
    table.add({r.worker, r.release, r.parameters ? std::to_string(*r.parameters) : "-",
               shown_error(trains ? r.gradient_error : r.output_error),
               trains            ? shown_error(r.loss_error)
               : r.output_spread ? fmt::format("{:.3g}", *r.output_spread)
                                 : "-",
               r.problems.empty() ? "yes" : "NO"});
  }
  Document document;
  document.add(table);
  for (const auto& r : results) {
    for (const auto& problem : r.problems) document.paragraph(fmt::format("{}: {}", r.worker, problem));
  }
  return document;
}

}  // namespace assay::report
