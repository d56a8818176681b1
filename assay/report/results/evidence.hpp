#pragma once

#include <string>
#include <vector>

#include "assay/compare/calibration.hpp"
#include "assay/compare/history.hpp"
#include "assay/model/prediction.hpp"
#include "assay/predict/calibration/score.hpp"
#include "assay/report/page.hpp"
#include "assay/report/results/roofs/roofline.hpp"
#include "assay/report/subjects/layers/layers.hpp"
#include "assay/tune/tuning.hpp"

namespace assay::report {

/// The layers of one trial on one platform.
struct TrialLayers {
  store::TrialRow trial;
  std::vector<NodeTime> layers;
};

/// A measurement, and what a model says of it.
struct SaidPoint {
  double measured_seconds = 0;
  model::Prediction said;
};

/// A model with the measurements that it was fitted to, where the store still holds them.
struct ModelEvidence {
  model::Model model;
  std::vector<SaidPoint> points;
};

/// Everything that a page is made of. It never opens a store itself.
struct Evidence {
  std::string store;  ///< its name, for commands
  std::vector<store::CampaignRow> campaigns;
  std::vector<std::string> machines;    ///< in words
  std::vector<store::TrialRow> trials;  ///< each once
  std::vector<store::RunRow> runs;      ///< also those that were measured again
  std::vector<Result> results;          ///< campaign by campaign, with their shares
  std::vector<compare::Calibration> calibrations;
  Roofline roofline;
  std::vector<TrialLayers> layers;
  std::vector<tune::Tuning> tunings;
  std::vector<predict::ScalingPrediction> predictions;
  std::vector<ModelEvidence> models;
  std::vector<predict::PredictionScore> scores;  ///< of predictions for which something was measured, newest first
};

/// The result that a page begins with: the fastest of the newest workload, gemm and triad apart. Null where no run gave
/// a number.
const Result* headline(const Evidence& evidence);

// NAME_pictures() for each line of the list. None where there is nothing to show.
#define PICTURES(name) std::vector<Picture> name##_pictures(const Evidence& evidence);
#include "assay/report/pictures/pictures.inc"
#undef PICTURES

/// Which runtime is fastest on each workload, by how much, and what is proved: the table of the picture `fastest`.
Document fastest_document(const Evidence& evidence);

/// All of them, in the order of their questions, with their axes.
std::vector<Picture> pictures_of(const Evidence& evidence);

/// The whole page but for title and date.
ReportPage page_of(const Evidence& evidence);

}  // namespace assay::report
