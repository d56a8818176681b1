#include <algorithm>
#include <map>

#include "assay/core/text/units.hpp"
#include "assay/report/renderers/html.hpp"
#include "assay/report/results/gathered_evidence.hpp"
#include "assay/report/site/pages.hpp"
#include "assay/report/table.hpp"

namespace assay::report::site {
namespace {

struct MachineField {
  const char* word;
  const char* path;  ///< of what a store keeps of a machine
};

constexpr MachineField kFields[] = {
    {"architecture", "/identity/architecture"},
    {"CPU", "/identity/cpus/0/name"},
    {"CPUs that may be used", "/identity/threads"},
    {"cores", "/identity/cores"},
    {"sockets", "/identity/sockets"},
    {"NUMA nodes", "/identity/nodes"},
    {"shape", "/identity/shape"},
    {"CPU quota", "/identity/cpu_quota"},
    {"GPU", "/identity/gpus/0/name"},
    {"virtual machine", "/identity/virtual_machine"},
    {"container", "/identity/container"},
    {"operating system", "/about/os"},
    {"board", "/about/board"},
    {"BIOS", "/about/bios"},
    {"microcode", "/about/microcode"},
    {"GPU driver", "/about/gpu_driver"},
};

Document machine_document(const Context& context, const std::string& platform) {
  Document out;
  const auto machine = context.store.platform(platform).value_or(json::object());
  const auto at = [&](const char* path) {
    return machine.is_object() ? machine.value(json::json_pointer(path), json()) : json();
  };
  out.term("platform", platform);
  for (const auto& field : kFields) {
    const auto value = at(field.path);
    if (value.is_string()) out.term(field.word, value.get<std::string>());
    if (value.is_number()) out.term(field.word, value.dump());
  }
  const auto bytes = at("/identity/memory_bytes");
  if (bytes.is_number_integer()) out.term("memory", format_bytes(bytes.get<std::int64_t>()));
  for (const auto& peak : context.roofline.peaks) {
    if (peak.platform == platform)
      out.term("best gemm, " + peak.precision, fmt::format("{:.1f} GFLOP/s", peak.flops_per_second / 1e9));
  }
  if (const auto* bandwidth = context.roofline.bandwidth(platform))
    out.term("best triad", fmt::format("{:.2f} GB/s", bandwidth->bytes_per_second / 1e9));
  return out;
}

/// A series and where it stands on the machine.
using Measured = std::pair<const PageEntry*, const SeriesStanding*>;

void write_machine(Context& context, const std::string& platform, std::vector<Measured> measured) {
  PageWriter page(machine_path(platform), machine_words(context.store, platform));
  page.html(as_html(machine_document(context, platform)));
  std::stable_sort(measured.begin(), measured.end(),
                   [](const auto& a, const auto& b) { return a.second->newest_utc > b.second->newest_utc; });
  LinkedTable table{"Measured here", {"what", "newest run began (UTC)", "median step", "change"}, {}};
  for (const auto& [entry, standing] : measured) {
    if (table.rows.size() == kMostRowsOfAPage) break;
    table.rows.push_back({{entry->title, entry->path},
                          {minute_of(standing->newest_utc)},
                          {duration_or_dash(standing->median_ns)},
                          {standing->change ? change_words(*standing->change) : ""}});
  }
  page.heading("What was measured here, the newest first");
  page.table(table);
  say_left_out(page, table.rows.size(), measured.size(), "the search of the site finds the others.");
  PageEntry made{page.path(), "", "", 0, page.title()};
  made.note = fmt::format("{} series", measured.size());
  made.newest_utc = measured.front().second->newest_utc;
  context.folder.put(made, page.page(context.title));
}

}  // namespace

void write_machines(Context& context) {
  std::map<std::string, std::vector<Measured>> machines;
  for (const auto& workload : context.catalogue.workloads) {
    for (const auto& series : workload.series) {
      const auto& entry = context.folder.pages().at(series_path(series.id));
      for (const auto& standing : entry.standings) machines[standing.platform].emplace_back(&entry, &standing);
    }
  }
  for (const auto& [platform, measured] : machines) write_machine(context, platform, measured);
}

}  // namespace assay::report::site
