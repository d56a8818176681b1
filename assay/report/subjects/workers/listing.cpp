#include "assay/report/subjects/workers/listing.hpp"

#include <algorithm>
#include <map>

#include "assay/plan/catalog/ability.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

/// "it+": infers, trains, several ranks.
std::string ability_cell(const plan::Ability& ability) {
  std::string out;
  for (const Mode mode : ability.modes) out += name_of(mode)[0];
  return out + (ability.ranks ? "+" : "");
}

/// A row for each workload, a column for each worker; releases of a worker have the same worker.json.
Table abilities_table(const std::vector<plan::WorkerInfo>& workers) {
  std::vector<Table::Column> columns{{"workload"}};
  std::vector<std::map<std::string, std::string>> cells;
  for (const auto& worker : workers) {
    if (std::any_of(columns.begin(), columns.end(), [&](const auto& c) { return c.title == worker.name; })) continue;
    columns.push_back({worker.name});
    auto& column = cells.emplace_back();
    for (const auto& ability : plan::abilities_of(worker)) column[ability.workload] = ability_cell(ability);
  }
  Table table(std::move(columns));
  for (const auto& workload : plan::all_workloads(workers)) {
    std::vector<std::string> row{workload};
    for (const auto& column : cells) row.push_back(column.contains(workload) ? column.at(workload) : "-");
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

Document workers_document(const std::vector<plan::WorkerInfo>& workers) {
  Table table({{"worker"}, {"release"}, {"installed"}, {"what it is"}});
  std::string missing;
  for (const auto& worker : workers) {
    table.add({worker.name, worker.release, worker.installed() ? "yes" : "no", worker.description});
    if (!worker.installed()) missing += " " + worker.name;
  }
  Document document;
  document.add(table);
  document.gap();
  document.add(Matrix{abilities_table(workers)});
  document.paragraph("i infers, t trains, g generates text, + several ranks can work together");
  if (!missing.empty()) document.paragraph(fmt::format("To install what is missing: assay worker install{}", missing));
  return document;
}

}  // namespace assay::report
