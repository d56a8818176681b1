#include "assay/predict/scaling.hpp"
#include "assay/report/renderers/html.hpp"
#include "assay/report/results/evidence.hpp"
#include "assay/report/site/pages.hpp"
#include "assay/report/subjects/predict/prediction.hpp"
#include "assay/report/subjects/tuning.hpp"
#include "assay/tune/tuning.hpp"

namespace assay::report::site {
namespace {

/// An artifact that this release can read: a newer one's is left out, and no reason to write no site.
template <typename T>
std::optional<T> read_artifact(const store::Artifact& artifact) {
  try {
    return from_json<T>(artifact.content, artifact.kind);
  } catch (const Error&) {
    return {};
  }
}

void add_pictures(std::vector<Picture> pictures, PageWriter& page) {
  for (auto& picture : pictures) fit_axes(picture);
  page.pictures(pictures);
}

void put_artifact_page(Context& context, const store::Artifact& artifact, const PageWriter& page, std::string note) {
  PageEntry entry{page.path(), artifact.inputs_hash, "", 0, page.title()};
  entry.note = std::move(note);
  entry.newest_utc = artifact.created_utc;
  context.folder.put(entry, page.page(context.title));
}

void write_tuning(Context& context, const store::Artifact& artifact) {
  const auto tuning = read_artifact<tune::Tuning>(artifact);
  if (!tuning) return;
  PageWriter page("tuning/" + address_of(artifact.inputs_hash) + ".html", "Tuning: " + tuning->name);
  page.paragraph(fmt::format("{} on {} {}, for {}; {} (UTC)", title(tuning->workload), tuning->worker.name,
                             tuning->worker.release, tuning->goal, minute_of(artifact.created_utc)));
  if (context.folder.pages().contains(machine_path(tuning->platform)))
    page.link("Machine: ", machine_cell(tuning->platform));
  page.html(as_html(tuning_document(*tuning)));
  Evidence evidence;
  evidence.store = context.store_name;
  evidence.tunings = {*tuning};
  add_pictures(settings_pictures(evidence), page);
  page.heading("What the search did");
  page.html(as_html(journal_document(*tuning)));
  put_artifact_page(context, artifact, page, title(tuning->settings));
}

void write_prediction(Context& context, const store::Artifact& artifact) {
  const auto said = read_artifact<predict::ScalingPrediction>(artifact);
  if (!said) return;
  PageWriter page("prediction/" + address_of(artifact.inputs_hash) + ".html",
                  fmt::format("Prediction: {}{}", said->network, said->cluster.empty() ? "" : " on " + said->cluster));
  page.paragraph(fmt::format("Made {} (UTC), before anything of it was measured.", minute_of(artifact.created_utc)));
  page.html(as_html(scaling_prediction_document(*said)));
  Evidence evidence;
  evidence.store = context.store_name;
  evidence.predictions = {*said};
  add_pictures(nodes_pictures(evidence), page);
  put_artifact_page(context, artifact, page,
                    said->points.empty() ? "" : fmt::format("up to {} devices", said->points.back().devices));
}

}  // namespace

void write_artifacts(Context& context) {
  for (const auto& artifact : context.store.artifacts("tuning")) write_tuning(context, artifact);
  for (const auto& artifact : context.store.artifacts("prediction")) write_prediction(context, artifact);
}

}  // namespace assay::report::site
