#pragma once

#include <string>
#include <vector>

#include "assay/predict/search/plan_search.hpp"
#include "assay/predict/training/training.hpp"
#include "assay/report/pictures/picture.hpp"

namespace assay::report {

/// One step: what each stage of a pipeline, or each stream of a device, does over time. Parts are drawn in one piece.
Picture step_picture(const predict::JudgedSplit& judged);

/// Time against price, or device hours where a price is not known, of every number of devices; those on the front are
/// joined.
Picture front_picture(const predict::PlanSearch& said);

/// Memory of splits by kind, against what a device has.
Picture memory_picture(const std::vector<predict::JudgedSplit>& splits, double device_bytes);

/// Days of one simulated course by weeks: the darker, the more of a day was in steps that count; with the number of its
/// failures.
Picture calendar_picture(const predict::TrainingPlan& plan);

/// What belongs to an answer. Precondition of the second: it has a plan.
std::vector<Picture> search_pictures(const predict::PlanSearch& said, double device_bytes);
std::vector<Picture> training_pictures(const predict::TrainingPlans& said, double device_bytes);

/// The picture as a file of its own, with its colours.
std::string standalone_svg(const Picture& picture);

}  // namespace assay::report
