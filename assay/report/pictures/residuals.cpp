#include <algorithm>
#include <cmath>

#include "assay/report/markup.hpp"
#include "assay/report/pictures/naming.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostModels = 3;
constexpr std::size_t kMostResiduals = 400;

std::optional<double> held_out_error(const model::Model& model) {
  for (const auto& candidate : model.candidates) {
    if (candidate.family == model.family) return candidate.error_held_out;
  }
  return {};
}

std::string residual_answer(const ModelEvidence& evidence, std::size_t inside, const std::vector<double>& errors) {
  const auto& model = evidence.model;
  auto text = fmt::format(
      "{} of {} points that it was fitted to are within their {:.0f} % interval; half are less than {:.2g} % off.",
      inside, errors.size(), 100 * model.uncertainty.confidence, stats::median(errors));
  if (const auto error = held_out_error(model))
    text += fmt::format(" On the largest scales, held out, it was typically {:.0f} % off.", 100 * *error);
  if (model.uncertainty.coverage)
    text += fmt::format(" Points held out lay within their interval in {:.0f} % of cases.",
                        100 * *model.uncertainty.coverage);
  return text;
}

}  // namespace

std::vector<Picture> residual_pictures(const Evidence& evidence) {
  std::vector<Picture> pictures;
  for (auto it = evidence.models.rbegin(); it != evidence.models.rend(); ++it) {
    if (pictures.size() == kMostModels || it->points.empty()) continue;
    Series inside{.name = "measured within the interval", .kind = SeriesKind::dots, .colour = 0};
    Series outside{.name = "measured outside", .kind = SeriesKind::dots, .colour = 3};
    std::vector<double> errors;
    std::size_t hits = 0;
    const auto chosen = spread(it->points.size(), kMostResiduals);
    for (const auto& point : it->points) {
      if (!point.said.seconds || point.measured_seconds <= 0) continue;
      errors.push_back(100 * std::abs(*point.said.seconds / point.measured_seconds - 1));
      const bool hit = point.said.low && point.said.high && *point.said.low <= point.measured_seconds &&
                       point.measured_seconds <= *point.said.high;
      hits += hit ? 1 : 0;
    }
    if (errors.empty()) continue;
    for (const auto i : chosen) {
      const auto& point = it->points[i];
      if (!point.said.seconds || point.measured_seconds <= 0) continue;
      const auto off = [&](double seconds) { return 100 * (seconds / point.measured_seconds - 1); };
      Mark mark{.x = point.measured_seconds * 1e3, .y = off(*point.said.seconds)};
      if (point.said.low) mark.low = off(*point.said.low);
      if (point.said.high) mark.high = off(*point.said.high);
      const bool hit = mark.low && mark.high && *mark.low <= 0 && *mark.high >= 0;
      (hit ? inside : outside).marks.push_back(std::move(mark));
    }
    Picture picture;
    picture.id = fmt::format("residuals-{}", pictures.size() + 1);
    picture.question = "Can the prediction be believed?";
    picture.title =
        fmt::format("What the law says against what was measured: {} ({})", it->model.name, it->model.family);
    picture.answer = residual_answer(*it, hits, errors);
    picture.command = command_of("assay fit --score " + shell_word(it->model.name), evidence);
    picture.x = {.title = "measured step, ms", .kind = PictureAxisKind::log};
    picture.y.title = "% that the law says too much";
    if (!inside.marks.empty()) picture.series.push_back(std::move(inside));
    if (!outside.marks.empty()) picture.series.push_back(std::move(outside));
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

}  // namespace assay::report
