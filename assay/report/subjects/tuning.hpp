#pragma once

#include <string>
#include <vector>

#include "assay/report/document.hpp"
#include "assay/tune/tuner.hpp"
#include "assay/tune/tuning.hpp"

namespace assay::report {

/// The best settings, what they gain over every guide, where the gain comes from, a heat map, and how to use them.
Document tuning_document(const tune::Tuning& tuning);

/// What the search did and why, a line each.
Document journal_document(const tune::Tuning& tuning);

/// Cost over thread counts relative to the cheapest, the best of all other settings in each cell. Empty where less than
/// two settings were measured.
std::string heat_map(const std::vector<tune::Tried>& tried, bool colour);

/// What `assay tune` is about to do.
struct TunePlan {
  Workload workload;
  Worker worker;
  std::string goal;
  tune::Resources resources;
  std::string rule;
  tune::Space space;
  tune::Candidates candidates;
};

Document tune_plan_document(const TunePlan& plan);
json json_tune_plan(const TunePlan& plan);

}  // namespace assay::report
