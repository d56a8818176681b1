#include "assay/model/links/link.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "assay/core/text/hash.hpp"
#include "assay/model/links/link_recognition.hpp"

namespace assay::model {
namespace {

constexpr std::size_t kFewestSizes = 3;
constexpr double kAsWell = 1.1;

void check_link_point(const LinkPoint& point) {
  const bool good = std::isfinite(point.seconds) && point.seconds > 0 && std::isfinite(point.bytes) &&
                    point.bytes >= 0 && point.ranks >= 2 &&
                    (point.collective != Collective::ping_pong || point.ranks == 2);
  if (good) return;
  fail(
      ErrorKind::bad_input,
      "{} of {} bytes over {} ranks in {} s is not a measurement: a time is above 0, a size not below, and there are 2 "
      "ranks or more (2 of ping_pong).",
      name_of(point.collective), point.bytes, point.ranks, point.seconds);
}

std::vector<LinkTime> link_times_by(CollectiveAlgorithm algorithm, const std::vector<LinkPoint>& points) {
  std::vector<LinkTime> times;
  for (const auto& point : points) times.push_back(link_time(point, algorithm));
  return times;
}

LinkPiece fit_size_range(const SizeRange& range, const std::vector<LinkPoint>& points, double noise) {
  LinkPiece piece;
  if (range.from > 0) piece.from_bytes = range.from;
  std::vector<LinkPoint> inside;
  std::copy_if(points.begin(), points.end(), std::back_inserter(inside),
               [&](const LinkPoint& point) { return range.holds(point.bytes); });
  for (const auto& candidate : range.candidates) {
    piece.algorithms.push_back(
        {candidate.algorithm, estimate_link(link_times_by(candidate.algorithm, inside)), candidate.error});
  }
  const double close = kAsWell * std::hypot(piece.algorithms.front().held_out_error, noise);
  for (std::size_t i = 1; i < piece.algorithms.size(); ++i) {
    if (piece.algorithms[i].held_out_error <= close) piece.as_well.push_back(piece.algorithms[i].algorithm);
  }
  piece.told_apart = piece.as_well.empty();
  return piece;
}

CollectiveFit fit_collective(Collective collective, const std::vector<LinkPoint>& points) {
  CollectiveFit fit;
  fit.collective = collective;
  std::set<std::int64_t> ranks;
  std::set<double> sizes;
  std::set<std::string> runs;
  for (const auto& point : points) {
    ranks.insert(point.ranks);
    sizes.insert(point.bytes);
    runs.insert(point.run);
  }
  fit.ranks.assign(ranks.begin(), ranks.end());
  fit.sizes = static_cast<std::int64_t>(sizes.size());
  fit.points = static_cast<std::int64_t>(points.size());
  fit.runs = static_cast<std::int64_t>(runs.size());
  const auto noise = cell_noise(link_times_by(algorithms_of(collective).front(), points));
  const auto recognition = recognise(collective, points);
  fit.held_out_error = recognition.error;
  for (const auto& range : recognition.ranges) fit.pieces.push_back(fit_size_range(range, points, noise));
  return fit;
}

/// What the points of a collective cannot tell.
void add_link_notes(const CollectiveFit& fit, std::vector<std::string>& notes) {
  const char* name = name_of(fit.collective);
  if (fit.ranks.size() == 1 && fit.pieces.front().algorithms.size() > 1) {
    notes.push_back(fmt::format(
        "{}: with {} ranks alone every algorithm is a line, so none can be chosen. Measure another number of ranks.",
        name, fit.ranks[0]));
  } else {
    for (const auto& piece : fit.pieces) {
      if (piece.told_apart) continue;
      std::vector<const char*> others;
      for (const auto other : piece.as_well) others.push_back(name_of(other));
      notes.push_back(fmt::format("{}: {} fits best{}, but {} as well within {} times its error.", name,
                                  name_of(piece.algorithms.front().algorithm),
                                  piece.from_bytes ? fmt::format(" from {:.0f} bytes on", *piece.from_bytes) : "",
                                  fmt::join(others, ", "), kAsWell));
    }
  }
  if (fit.runs < fit.points) {
    notes.push_back(fmt::format(
        "{}: {} points are from {} run{}. Sizes of one run share its luck, which the intervals do not hold.", name,
        fit.points, fit.runs, fit.runs == 1 ? "" : "s"));
  }
}

/// One link for every collective that was fitted, each by its recognised algorithm.
LinkConstants fit_all_together(const LinkFit& link, const std::vector<LinkPoint>& points) {
  std::vector<LinkTime> times;
  for (const auto& fit : link.collectives) {
    for (const auto& point : points) {
      if (point.collective != fit.collective) continue;
      times.push_back(link_time(point, piece_at(fit, point.bytes).algorithms.front().algorithm));
    }
  }
  return estimate_link(times);
}

bool adds_up(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter;
}

}  // namespace

const LinkPiece& piece_at(const CollectiveFit& fit, double bytes) {
  ASSAY_CHECK(!fit.pieces.empty());
  const auto& last = fit.pieces.back();
  return bytes >= last.from_bytes.value_or(0) ? last : fit.pieces.front();
}

LinkFit fit_link(const LinkPoints& points) {
  LinkFit link;
  link.source = points.source;
  link.data = hash_hex(canonical_json(to_json(points.points)));
  std::map<Collective, std::vector<LinkPoint>> collectives;
  for (const auto& point : points.points) {
    check_link_point(point);
    collectives[point.collective].push_back(point);
  }
  for (const auto& [collective, own] : collectives) {
    std::set<double> sizes;
    for (const auto& point : own) sizes.insert(point.bytes);
    if (sizes.size() < kFewestSizes) {
      link.notes.push_back(fmt::format("{} is left out: {} size{}, and a line with a check needs {}.",
                                       name_of(collective), sizes.size(), sizes.size() == 1 ? "" : "s", kFewestSizes));
      continue;
    }
    link.collectives.push_back(fit_collective(collective, own));
    add_link_notes(link.collectives.back(), link.notes);
  }
  if (link.collectives.empty()) {
    fail(ErrorKind::usage, "{}: no collective was measured at {} sizes or more{}{}", shown(points.source), kFewestSizes,
         link.notes.empty() ? "." : ": ", fmt::join(link.notes, " "));
  }
  if (link.collectives.size() > 1) link.together = fit_all_together(link, points.points);
  const bool any_adds_up = std::any_of(link.collectives.begin(), link.collectives.end(),
                                       [](const CollectiveFit& fit) { return adds_up(fit.collective); });
  if (any_adds_up && !(link.together && link.together->gamma_seconds_per_byte)) {
    link.notes.emplace_back(
        "gamma cannot be separated from beta: both grow with the bytes in the same way. beta includes it. Measure a "
        "collective "
        "that adds nothing up too, such as all_gather or ping_pong.");
  }
  if (points.disturbed > 0) {
    link.notes.push_back(fmt::format("{} of {} points are from disturbed runs, because their trials have no others.",
                                     points.disturbed, points.points.size()));
  }
  return link;
}

}  // namespace assay::model
