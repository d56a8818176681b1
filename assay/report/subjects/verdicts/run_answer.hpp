#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/compare/compare.hpp"
#include "assay/plan/campaign.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/report/document.hpp"
#include "assay/report/results/result.hpp"

namespace assay::report {

/// Below the table of a campaign that measured one workload under several settings or workers: what each takes against
/// the first, and whether that is proved. Empty where there is nothing to compare, or too few runs.
Document run_verdicts(const compare::Material& material);

/// CPUs that a process may use.
struct CpuRoom {
  std::int64_t cpus = 1;
  std::optional<double> quota;  ///< CPU time per time; null: no limit
};

/// What one would type next, as the last of one or two lines: where every run was disturbed, what says by whom; under a
/// quota of CPUs the same with as many threads; else, of a single trial with default settings, the same with several
/// numbers of threads, where its worker follows them. `words` is the command that was given. Empty: nothing to say.
std::string next_command(const plan::Campaign& campaign, const plan::Catalog& catalog,
                         const std::vector<std::string>& words, const std::vector<Result>& results,
                         const CpuRoom& room);

}  // namespace assay::report
