#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/predict/cluster.hpp"
#include "assay/predict/search/search.hpp"
#include "assay/predict/training/costs.hpp"

namespace assay::predict {

constexpr std::int64_t kPlanSearchVersion = 1;

/// Share of a device's memory that a search leaves free, for what no formula counts.
constexpr double kUsualReserve = .1;

/// A model to be trained, on clusters that are compared and numbers of their devices.
struct PlanQuestion {
  ModelShape model;
  std::vector<Cluster> clusters;
  std::vector<std::int64_t> devices;  ///< empty: all of each cluster
  std::int64_t global_batch = 1;
  StepPlan practice;
  double reserve = kUsualReserve;
  std::optional<double> tokens;          ///< of the whole training
  std::optional<double> within_seconds;  ///< limits of the whole training; need tokens
  std::optional<double> most_price;
  std::size_t most = 10;  ///< splits that are ranked
};

/// The best split of one number of devices of one cluster.
struct PlanPoint {
  std::string cluster;
  std::int64_t devices = 1;
  std::optional<JudgedSplit> best;  ///< null: reason says why
  std::string reason;
  std::optional<Bill> bill;  ///< of the tokens, without failures
  bool on_front = false;     ///< no other is better in one of time, price and devices and as good in the others
  bool within_limits = true;
};

template <typename V>
void describe(V& v, PlanPoint& p) {
  required(v, "cluster", p.cluster);
  required(v, "devices", p.devices);
  v("best", p.best);
  v("reason", p.reason);
  v("bill", p.bill);
  required(v, "on_front", p.on_front);
  required(v, "within_limits", p.within_limits);
}

/// One cluster beside the first, each with as many devices as both have and its own best split.
struct ClusterRatio {
  std::string cluster;
  std::string beside;
  std::int64_t devices = 1;
  RangedRatio step;  ///< this cluster's step over the first one's
  std::optional<double> price_ratio;
  std::optional<double> energy_ratio;
};

template <typename V>
void describe(V& v, ClusterRatio& r) {
  required(v, "cluster", r.cluster);
  required(v, "beside", r.beside);
  required(v, "devices", r.devices);
  required(v, "step", r.step);
  v("price_ratio", r.price_ratio);
  v("energy_ratio", r.energy_ratio);
}

struct PlanSearch {
  std::int64_t search_version = kPlanSearchVersion;
  std::string model;
  std::int64_t parameters = 0;
  std::int64_t global_batch = 1;
  std::int64_t sequence = 1;
  StepPrecision precision = StepPrecision::bf16;
  std::optional<double> tokens;
  std::vector<PlanPoint> points;
  std::optional<std::int64_t> chosen;  ///< of points, from 0: the one to take
  SplitSearch search;                  ///< of that one, with its ranking
  std::vector<Neighbour> neighbours;   ///< of its best split
  std::vector<ClusterRatio> ratios;
  std::string choice;  ///< why it was chosen, or why none was
  std::vector<std::string> notes;
};

template <typename V>
void describe(V& v, PlanSearch& s) {
  required(v, "search_version", s.search_version);
  required(v, "model", s.model);
  required(v, "parameters", s.parameters);
  required(v, "global_batch", s.global_batch);
  required(v, "sequence", s.sequence);
  required(v, "precision", s.precision);
  v("tokens", s.tokens);
  required(v, "points", s.points);
  v("chosen", s.chosen);
  required(v, "search", s.search);
  required(v, "neighbours", s.neighbours);
  v("ratios", s.ratios);
  required(v, "choice", s.choice);
  v("notes", s.notes);
}

/// Splits of one part of a cluster, with the reserve taken off the device's memory. Throws Error{usage} where the
/// number of devices is larger than the cluster or fills no whole nodes.
SplitQuestion split_question(const ModelShape& model, const Cluster& cluster, std::int64_t devices, double reserve);

/// Share of a step for which devices compute.
double busy_share(const StepTime& step);

PlanSearch search_plans(const PlanQuestion& question, const StepBasis& basis);

/// The cluster of the chosen point, and the job of its best split. Precondition of both: one was chosen, and the search
/// answers the question.
const Cluster& chosen_cluster(const PlanQuestion& question, const PlanSearch& said);
StepJob chosen_job(const PlanQuestion& question, const PlanSearch& said);

}  // namespace assay::predict
