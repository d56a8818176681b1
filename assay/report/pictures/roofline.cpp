#include <algorithm>
#include <cmath>
#include <map>

#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostPoints = 120;
constexpr std::size_t kMostLabels = 8;

struct RoofPoint {
  const Result* result;
  double intensity;  ///< FLOPs for each byte
};

/// Results of a roof that do arithmetic and move a known number of bytes.
std::vector<RoofPoint> points_below(const Evidence& evidence, const Peak& peak) {
  std::vector<RoofPoint> points;
  for (const auto* result : good_results(evidence)) {
    if (result->platform != peak.platform || result->trial.workload.precision != peak.precision) continue;
    if (!result->flops_per_second || !result->bytes_per_second || *result->bytes_per_second <= 0) continue;
    points.push_back({result, *result->flops_per_second / *result->bytes_per_second});
  }
  std::vector<RoofPoint> some;
  for (const auto i : spread(points.size(), kMostPoints)) some.push_back(points[i]);
  return some;
}

Series roof_line(const Peak& peak, const Bandwidth& bandwidth, const std::vector<RoofPoint>& points) {
  const double ridge = peak.flops_per_second / bandwidth.bytes_per_second;
  double low = ridge / 10;
  double high = ridge * 10;
  for (const auto& point : points) {
    low = std::min(low, point.intensity / 1.5);
    high = std::max(high, point.intensity * 1.5);
  }
  Series roof{.name = "roof, measured", .kind = SeriesKind::line, .colour = 7};
  roof.marks.push_back({.x = low, .y = low * bandwidth.bytes_per_second, .note = "best triad"});
  roof.marks.push_back({.x = ridge, .y = peak.flops_per_second, .note = "ridge"});
  roof.marks.push_back({.x = high, .y = peak.flops_per_second, .note = "best gemm"});
  return roof;
}

/// A series for each worker, so that shapes tell them apart.
void add_points(Picture& picture, const std::vector<RoofPoint>& points) {
  std::vector<Named> named;
  for (const auto& point : points) named.push_back({&point.result->trial, point.result->platform});
  const auto names = distinct_names(named);
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& worker = points[i].result->trial.worker.name;
    const auto [it, is_new] = places.try_emplace(worker, picture.series.size());
    if (is_new) {
      picture.series.push_back(
          {.name = worker, .kind = SeriesKind::dots, .colour = static_cast<std::int64_t>(places.size()) - 1});
    }
    picture.series[it->second].marks.push_back({.x = points[i].intensity,
                                                .y = *points[i].result->flops_per_second,
                                                .text = points.size() <= kMostLabels ? names[i] : "",
                                                .note = names[i]});
  }
}

}  // namespace

std::vector<Picture> roofline_pictures(const Evidence& evidence) {
  std::vector<Picture> pictures;
  for (const auto& peak : evidence.roofline.peaks) {
    const auto* bandwidth = evidence.roofline.bandwidth(peak.platform);
    if (bandwidth == nullptr) continue;
    const auto points = points_below(evidence, peak);
    if (points.empty()) continue;
    const double ridge = peak.flops_per_second / bandwidth->bytes_per_second;
    const auto bound = static_cast<std::size_t>(
        std::count_if(points.begin(), points.end(), [&](const auto& p) { return p.intensity < ridge; }));
    Picture picture;
    picture.id = fmt::format("roofline-{}", pictures.size() + 1);
    picture.question = "Compute or memory?";
    picture.title = fmt::format("Roofline at {}: {}FLOP/s, {}B/s, both measured", peak.precision,
                                short_number(peak.flops_per_second), short_number(bandwidth->bytes_per_second));
    picture.answer = fmt::format(
        "{} of {} results are left of the ridge at {:.3g} FLOP/byte, where memory limits; the others could at most "
        "reach the peak of arithmetic.",
        bound, points.size(), ridge);
    picture.command = command_of("assay show --all --roofline", evidence);
    picture.x = {.title = "FLOP/byte (least traffic)", .kind = PictureAxisKind::log};
    picture.y = {.title = "FLOP/s", .kind = PictureAxisKind::log};
    picture.series.push_back(roof_line(peak, *bandwidth, points));
    add_points(picture, points);
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

}  // namespace assay::report
