#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "assay/plan/catalog/ability.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/report/table.hpp"
#include "assay/vet/conformance.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

struct WorkerOptions {
  std::string worker;
  bool json = false;
};

json listed(const plan::WorkerInfo& worker) {
  json out = to_json(worker);
  out["installed"] = worker.installed();
  out["folder"] = worker.folder.string();
  out["environment_folder"] = nullptr;
  if (!worker.environment_folder.empty()) out["environment_folder"] = worker.environment_folder.string();
  out["workloads"] = json::array();
  for (const auto& ability : plan::abilities_of(worker)) out["workloads"].push_back(to_json(ability));
  return out;
}

/// "it+": infers, trains, several ranks.
std::string cell(const plan::Ability& ability) {
  std::string out;
  for (const Mode mode : ability.modes) out += name_of(mode)[0];
  return out + (ability.ranks ? "+" : "");
}

/// The words with commas between them, broken into lines of `width`, each after `indent`.
std::string in_lines(const std::vector<std::string>& words, std::size_t width, const std::string& indent) {
  std::string out;
  std::string line = indent;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = words[i] + (i + 1 < words.size() ? "," : "");
    if (line.size() > indent.size() && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + word;
  }
  return out + line + "\n";
}

/// The matrix for a window that its columns do not fit in: workloads that the same workers run in the same way, then
/// those workers. No name is cut.
std::string matrix_in_groups(const report::Table& table, std::size_t width) {
  std::vector<std::vector<std::string>> groups;  // in the order of their first workload
  std::map<std::vector<std::string>, std::vector<std::string>> workloads;
  for (const auto& row : table.rows()) {
    const std::vector<std::string> cells(row.begin() + 1, row.end());
    auto& group = workloads[cells];
    if (group.empty()) groups.push_back(cells);
    group.push_back(row.front());
  }
  std::string out;
  for (const auto& cells : groups) {
    std::vector<std::string> able;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] != "-") able.push_back(table.columns()[i + 1].title + " " + cells[i]);
    }
    out += in_lines(workloads[cells], width, "") + in_lines(able, width, "  ");
  }
  return out;
}

/// A row for each workload, a column for each worker; releases of a worker have the same worker.json.
std::string matrix(const std::vector<plan::WorkerInfo>& workers) {
  std::vector<report::Table::Column> columns{{"workload"}};
  std::vector<std::map<std::string, std::string>> cells;
  for (const auto& worker : workers) {
    if (std::any_of(columns.begin(), columns.end(), [&](const auto& c) { return c.title == worker.name; })) continue;
    columns.push_back({worker.name});
    auto& column = cells.emplace_back();
    for (const auto& ability : plan::abilities_of(worker)) column[ability.workload] = cell(ability);
  }
  report::Table table(std::move(columns));
  for (const auto& workload : plan::all_workloads(workers)) {
    std::vector<std::string> row{workload};
    for (const auto& column : cells) row.push_back(column.contains(workload) ? column.at(workload) : "-");
    table.add(std::move(row));
  }
  const auto width = terminal_width();
  const auto whole = table.text(0);
  const bool fits = width == 0 || whole.find('\n') <= width;  // the head has the widest of every column
  return (fits ? whole : matrix_in_groups(table, width)) +
         "i infers, t trains, g generates text, + several ranks can work together\n";
}

void list(bool as_json) {
  const auto catalog = catalog_at_hand();
  for (const auto& problem : catalog.problems()) std::fprintf(stderr, "assay: %s\n", problem.c_str());
  if (as_json) {
    json out = json::array();
    for (const auto& worker : catalog.workers()) out.push_back(listed(worker));
    return print(out.dump(2) + "\n");
  }
  report::Table table({{"worker"}, {"release"}, {"installed"}, {"what it is"}});
  std::string missing;
  for (const auto& worker : catalog.workers()) {
    table.add({worker.name, worker.release, worker.installed() ? "yes" : "no", worker.description});
    if (!worker.installed()) missing += " " + worker.name;
  }
  print(table.text(terminal_width()) + "\n" + matrix(catalog.workers()));
  if (!missing.empty()) print(fmt::format("To install what is missing: assay worker install{}\n", missing));
}

int check(const WorkerOptions& o) {
  const auto catalog = catalog_at_hand();
  const auto checks = vet::check_conformance(catalog.find(o.worker));
  bool all = true;
  json out = json::array();
  std::string text;
  for (const auto& one : checks) {
    all = all && one.passed;
    out.push_back({{"rule", one.rule}, {"passed", one.passed}, {"message", one.message}});
    text += fmt::format("{} {}{}\n", one.passed ? "ok    " : "FAILED", one.rule,
                        one.passed ? "" : "\n       " + one.message);
  }
  print(o.json ? out.dump(2) + "\n" : text);
  return all ? 0 : 1;
}

void add_worker(CLI::App& command, Invocation& invocation) {
  command.require_subcommand(1);
  const auto o = std::make_shared<WorkerOptions>();
  auto* list_command =
      command.add_subcommand("list", "List workers, whether each is installed, and which workloads it can run");
  add_json_flag(*list_command, o->json);
  list_command->callback([o, &invocation] {
    list(o->json);
    invocation.exit_code = 0;
  });
  auto* check_command = command.add_subcommand("check", "Start a worker and hold it to every rule of the protocol");
  check_command->add_option("worker", o->worker, "Check this worker, or worker==release")->required();
  add_json_flag(*check_command, o->json);
  check_command->callback([o, &invocation] { invocation.exit_code = check(*o); });
  add_worker_equal(command, invocation.exit_code);
  add_worker_audit(command, invocation.exit_code);
  add_worker_install(command, invocation.exit_code);
}

}  // namespace

const Command commands::worker{
    "worker", "List and install workers, and check that they keep the protocol and are honest", add_worker};

}  // namespace assay::cli
