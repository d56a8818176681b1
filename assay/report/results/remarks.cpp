#include "assay/report/results/remarks.hpp"

#include "assay/core/workloads/scenario.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

/// Runs whose median is that of no steady state, or of one that came by slowing down.
void add_unsteady(const Result& result, Document& out) {
  for (const auto kind : {SteadyKind::slow_down, SteadyKind::no_steady_state}) {
    const auto it = result.details.steady.find(kind);
    if (it == result.details.steady.end()) continue;
    out.item(fmt::format("{} of {} runs {}: {}", it->second, result.ok,
                         kind == SteadyKind::slow_down ? "became slower before they were steady"
                                                       : "had no steady state; all of their samples count",
                         title(result.trial)));
  }
}

void add_reason(const Result& result, const ReasonCount& reason, Document& out) {
  if (reason.code == kScenarioReason) {
    out.item(fmt::format("{}{}:", title(result.trial),
                         reason.runs > 1 ? fmt::format(", first of {} runs", reason.runs) : ""));
  } else {
    out.item(fmt::format("{} of {} runs {}: {}", reason.runs, result.ok, fit(reason.code, 40), title(result.trial)));
  }
  out.item(fit(reason.message, 300), 2);
}

}  // namespace

void add_remarks(const std::vector<Result>& results, Document& out) {
  for (const auto& result : results) {
    add_unsteady(result, out);
    for (const auto& line : differences(result.trial.settings, result.details, result.ok)) {
      out.item(fmt::format("{}: {}", fit(line, 200), title(result.trial)));
    }
    for (const auto& reason : result.details.reasons) add_reason(result, reason, out);
  }
}

}  // namespace assay::report
