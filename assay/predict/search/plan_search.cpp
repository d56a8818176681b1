#include "assay/predict/search/plan_search.hpp"

#include <algorithm>
#include <limits>

namespace assay::predict {
namespace {

/// A point with what it takes to judge it again.
struct Searched {
  SplitQuestion question;
  SplitSearch search;
  Cluster part;
};

TrainingTime without_failures(double seconds) {
  TrainingTime time;
  time.seconds = time.useful_seconds = seconds;
  return time;
}

bool is_within(const PlanQuestion& q, const PlanPoint& point) {
  if (!point.best) return false;
  if (q.within_seconds && point.bill->hours * 3600 > *q.within_seconds) return false;
  return !q.most_price || (point.bill->price && *point.bill->price <= *q.most_price);
}

PlanPoint point_of(const PlanQuestion& q, const StepBasis& basis, const Cluster& cluster, std::int64_t devices,
                   Searched& searched) {
  PlanPoint point;
  point.cluster = cluster.name;
  point.devices = devices;
  try {
    searched.question = split_question(q.model, cluster, devices, q.reserve);
    searched.part = part_of(cluster, devices);
  } catch (const Error& error) {
    point.reason = error.what();
    point.within_limits = false;
    return point;
  }
  searched.question.global_batch = q.global_batch;
  searched.question.practice = q.practice;
  searched.search = search_splits(searched.question, basis, q.most);
  if (searched.search.ranked.empty()) {
    point.reason = searched.search.reason;
    point.within_limits = false;
    return point;
  }
  point.best = searched.search.ranked.front();
  if (q.tokens) {
    const double seconds = *q.tokens / point.best->tokens_per_second;
    point.bill = bill_of(searched.part, 0, without_failures(seconds), busy_share(point.best->step));
  }
  point.within_limits = is_within(q, point);
  return point;
}

struct FrontSizes {
  double seconds = 0;
  double price = 0;
  double devices = 0;
};

/// Where no price is known, device hours stand for it.
FrontSizes sizes_of(const PlanPoint& point, bool all_priced) {
  const double seconds = 1 / point.best->tokens_per_second;
  const auto devices = static_cast<double>(point.devices);
  return {seconds, all_priced ? *point.bill->price : seconds * devices, devices};
}

void mark_front(std::vector<PlanPoint>& points) {
  bool all_priced = true;
  for (const auto& point : points) {
    if (point.best) all_priced = all_priced && point.bill && point.bill->price;
  }
  for (auto& point : points) {
    if (!point.best) continue;
    const auto own = sizes_of(point, all_priced);
    point.on_front = std::none_of(points.begin(), points.end(), [&](const PlanPoint& other) {
      if (!other.best || &other == &point) return false;
      const auto o = sizes_of(other, all_priced);
      const bool as_good = o.seconds <= own.seconds && o.price <= own.price && o.devices <= own.devices;
      return as_good && (o.seconds < own.seconds || o.price < own.price || o.devices < own.devices);
    });
  }
}

/// The cheapest within the limits where time is one; else the fastest.
std::optional<std::int64_t> choice_of_points(const PlanQuestion& q, const std::vector<PlanPoint>& points) {
  std::optional<std::int64_t> chosen;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& point = points[i];
    if (!point.within_limits) continue;
    const double cost =
        q.within_seconds ? point.bill->price.value_or(point.bill->device_hours) : 1 / point.best->tokens_per_second;
    if (cost >= least) continue;
    least = cost;
    chosen = static_cast<std::int64_t>(i);
  }
  return chosen;
}

std::string choice_text(const PlanQuestion& q, const PlanSearch& said) {
  const bool limited = q.within_seconds || q.most_price;
  if (said.chosen) {
    const auto& point = said.points[static_cast<std::size_t>(*said.chosen)];
    const char* why = q.within_seconds ? "the cheapest within the limits"
                      : limited        ? "the fastest within the limits"
                                       : "the fastest";
    return fmt::format("{} devices of {}: {}.", point.devices, point.cluster, why);
  }
  const bool any =
      std::any_of(said.points.begin(), said.points.end(), [](const auto& p) { return p.best.has_value(); });
  return any ? "No number of devices is within the limits." : "No number of devices can be used: see each reason.";
}

void add_ratios(const StepBasis& basis, const std::vector<Searched>& searched, PlanSearch& said) {
  for (std::size_t i = 0; i < said.points.size(); ++i) {
    const auto& other = said.points[i];
    for (std::size_t j = 0; j < i; ++j) {
      const auto& first = said.points[j];
      if (first.cluster != said.points.front().cluster || other.cluster == first.cluster) continue;
      if (first.devices != other.devices || !first.best || !other.best) continue;
      ClusterRatio r;
      r.cluster = other.cluster;
      r.beside = first.cluster;
      r.devices = other.devices;
      r.step = basis.ratio_of(job_of(searched[j].question, first.best->split),
                              job_of(searched[i].question, other.best->split));
      if (first.bill && other.bill) {
        if (first.bill->price && other.bill->price) r.price_ratio = *other.bill->price / *first.bill->price;
        if (first.bill->energy_kwh && other.bill->energy_kwh) {
          r.energy_ratio = *other.bill->energy_kwh / *first.bill->energy_kwh;
        }
      }
      said.ratios.push_back(r);
    }
  }
}

void check_limits(const PlanQuestion& q) {
  if (!(q.within_seconds || q.most_price)) return;
  if (!q.tokens) fail(ErrorKind::usage, "--within and --price are limits of a whole training: add --tokens.");
  if (!q.most_price) return;
  for (const auto& cluster : q.clusters) {
    if (!cluster.price_per_hour) {
      fail(ErrorKind::usage, "--price: {} does not state price_per_hour or prices. Add one of them.", cluster.name);
    }
  }
}

}  // namespace

double busy_share(const StepTime& step) {
  return (step.compute_seconds + step.output_seconds + step.update_seconds) / step.seconds;
}

SplitQuestion split_question(const ModelShape& model, const Cluster& cluster, std::int64_t devices, double reserve) {
  SplitQuestion question;
  question.model = model;
  question.devices = devices;
  question.device = step_device(part_of(cluster, devices));
  question.device.sheet.memory_bytes *= 1 - reserve;
  return question;
}

PlanSearch search_plans(const PlanQuestion& q, const StepBasis& basis) {
  check_limits(q);
  PlanSearch said;
  said.model = q.model.name;
  said.parameters = parameters_of(q.model);
  said.global_batch = q.global_batch;
  said.sequence = q.practice.sequence;
  said.precision = q.practice.precision;
  said.tokens = q.tokens;
  std::vector<Searched> searched;
  for (const auto& cluster : q.clusters) {
    const auto counts = q.devices.empty() ? std::vector<std::int64_t>{cluster.devices()} : q.devices;
    for (const auto devices : counts) {
      searched.emplace_back();
      said.points.push_back(point_of(q, basis, cluster, devices, searched.back()));
    }
  }
  mark_front(said.points);
  said.chosen = choice_of_points(q, said.points);
  said.choice = choice_text(q, said);
  if (said.chosen) {
    const auto& one = searched[static_cast<std::size_t>(*said.chosen)];
    said.search = one.search;
    said.neighbours = neighbours_of(one.question, basis, one.search.ranked.front(), q.most);
  }
  add_ratios(basis, searched, said);
  said.notes.push_back(basis.sentence());
  said.notes.push_back(fmt::format("{:.0f} % of a device's memory is left free (--reserve).", 100 * q.reserve));
  if (q.tokens) said.notes.push_back("Hours and prices are without failures: --training has them.");
  return said;
}

const Cluster& chosen_cluster(const PlanQuestion& q, const PlanSearch& said) {
  const auto& name = said.points[static_cast<std::size_t>(*said.chosen)].cluster;
  const auto found =
      std::find_if(q.clusters.begin(), q.clusters.end(), [&](const auto& cluster) { return cluster.name == name; });
  ASSAY_CHECK(found != q.clusters.end());
  return *found;
}

StepJob chosen_job(const PlanQuestion& q, const PlanSearch& said) {
  auto question = split_question(q.model, chosen_cluster(q, said), said.search.devices, q.reserve);
  question.global_batch = q.global_batch;
  question.practice = q.practice;
  return job_of(question, said.search.ranked.front().split);
}

}  // namespace assay::predict
