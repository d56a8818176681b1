// Prints as JSON what describe() says of every struct that has a schema in docs/formats; schemas/write makes files of
// it.
#include "schemas/described.hpp"

#include <iostream>

#include "assay/compare/alert.hpp"
#include "assay/compare/history.hpp"
#include "assay/compare/scaling.hpp"
#include "assay/core/record.hpp"
#include "assay/core/replay.hpp"
#include "assay/core/trial.hpp"
#include "assay/load/load.hpp"
#include "assay/model/links/link.hpp"
#include "assay/model/model.hpp"
#include "assay/network/graph.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/plan/catalog/environment.hpp"
#include "assay/platform/machine/findings/health.hpp"
#include "assay/predict/calibration/calibrated_rows.hpp"
#include "assay/predict/calibration/score.hpp"
#include "assay/predict/layers.hpp"
#include "assay/predict/scaling.hpp"
#include "assay/predict/search/plan_search.hpp"
#include "assay/predict/threads/settings_prediction.hpp"
#include "assay/predict/traces/trace_explanation.hpp"
#include "assay/predict/training/training.hpp"
#include "assay/predict/transformer/transformer_scaling.hpp"
#include "assay/report/exports/result_document.hpp"
#include "assay/report/page.hpp"
#include "assay/report/subjects/fleet.hpp"
#include "assay/store/records/verification.hpp"
#include "assay/store/store.hpp"
#include "assay/store/store_info.hpp"
#include "assay/tune/tuning.hpp"
#include "assay/vet/audit.hpp"

namespace schemas {
namespace {

/// The structs, and for each file of docs/formats the one that it is about.
struct Formats {
  Structs structs = Structs::object();
  Ordered files = Ordered::object();

  template <typename T>
  void add(const char* file) {
    files[file] = struct_schema<T>(structs)["struct"];
  }
};

Formats all() {
  using namespace assay;
  Formats formats;
  formats.add<Trial>("trial");
  formats.add<Record>("record");
  formats.add<report::ResultDocument>("result");
  formats.add<Replay>("replay");
  formats.add<network::Graph>("graph");
  formats.add<platform::Examination>("doctor");
  formats.add<platform::FindingReference>("findings");
  formats.add<plan::WorkerInfo>("worker");
  formats.add<plan::Installed>("installed");
  formats.add<store::Planned>("planned");
  formats.add<store::StoreInfo>("store_info");
  formats.add<store::Verification>("verification");
  formats.add<vet::AuditResult>("audit");
  formats.add<compare::History>("history");
  formats.add<compare::Alert>("alert");
  formats.add<compare::ScalingStudy>("scaling");
  formats.add<load::LoadResult>("load");
  formats.add<tune::Tuning>("tuning");
  formats.add<model::Model>("model");
  formats.add<model::LinkFit>("link");
  formats.add<predict::LayerTable>("layers");
  formats.add<predict::ScalingPrediction>("prediction");
  formats.add<predict::TransformerPrediction>("transformer");
  formats.add<predict::TraceExplanation>("explanation");
  formats.add<predict::PlanSearch>("plan_search");
  formats.add<predict::SettingsPrediction>("settings_prediction");
  formats.add<predict::TrainingPlans>("training_plans");
  formats.add<predict::PredictionScore>("score");
  formats.add<predict::ClusterCalibration>("cluster_calibration");
  formats.add<report::Fleet>("fleet");
  formats.add<report::ReportPage>("report");
  return formats;
}

}  // namespace
}  // namespace schemas

int main() {
  schemas::Formats formats = schemas::all();
  std::cout << schemas::Ordered{{"files", std::move(formats.files)}, {"structs", std::move(formats.structs)}}.dump(1)
            << '\n';
}
