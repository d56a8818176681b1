#pragma once

#include <string>
#include <vector>

#include "assay/predict/search/plan_search.hpp"
#include "assay/predict/training/training.hpp"
#include "assay/report/subjects/predict/step_picture.hpp"

namespace assay::report {

/// Time against price, or device hours where a price is not known, of every number of devices; those on the front are
/// joined.
Picture front_picture(const predict::PlanSearch& said);

/// A bar of a picture of memory.
struct MemoryBar {
  std::string name;
  predict::StepMemory memory;
};

/// Memory by kind, against what a device has; at most 12 bars. Precondition: there is one.
Picture memory_picture(const std::vector<MemoryBar>& bars, double device_bytes);

/// Days of one simulated course by weeks: the darker, the more of a day was in steps that count; with the number of its
/// failures.
Picture calendar_picture(const predict::TrainingPlan& plan);

/// What belongs to an answer. The drawing is that of the chosen split, or of the stage that takes longest; the memory
/// that of the device of the chosen cluster.
std::vector<Picture> search_pictures(const predict::PlanSearch& said,
                                     const std::optional<predict::StepDrawing>& drawing, double device_bytes);
std::vector<Picture> training_pictures(const predict::TrainingPlan& plan, const predict::StepDrawing& drawing,
                                       double device_bytes);

/// The picture as a file of its own, with its colours.
std::string standalone_svg(const Picture& picture);

}  // namespace assay::report
