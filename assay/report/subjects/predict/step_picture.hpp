#pragma once

#include <string>

#include "assay/predict/step/step_drawing.hpp"
#include "assay/report/pictures/picture.hpp"

namespace assay::report {

/// One step as streams over time, from its graph: a row for each stream of each stage, of many stages some. `what`
/// names the step; `seconds` and `time` are those of all of it.
Picture step_picture(const std::string& what, const predict::StepDrawing& drawing, double seconds,
                     const predict::StepTime& time);

}  // namespace assay::report
