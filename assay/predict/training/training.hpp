#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/predict/search/plan_search.hpp"
#include "assay/predict/training/failure_simulation.hpp"
#include "assay/predict/training/training_file.hpp"

namespace assay::predict {

constexpr std::int64_t kTrainingVersion = 1;

/// One stage with its split.
struct StagePlan {
  double tokens = 0;
  std::int64_t sequence = 0;
  std::int64_t batch = 0;
  std::int64_t devices = 0;
  JudgedSplit best;
  bool searched = false;  ///< the split was sought, not stated
  TrainingTime time;
  Bill bill;
};

template <typename V>
void describe(V& v, StagePlan& s) {
  required(v, "tokens", s.tokens);
  required(v, "sequence", s.sequence);
  required(v, "batch", s.batch);
  required(v, "devices", s.devices);
  required(v, "best", s.best);
  required(v, "searched", s.searched);
  required(v, "time", s.time);
  required(v, "bill", s.bill);
}

/// A day of one simulated course.
struct TrainingDay {
  double goodput = 0;  ///< share of the day in steps that count
  std::int64_t failures = 0;
};

template <typename V>
void describe(V& v, TrainingDay& d) {
  required(v, "goodput", d.goodput);
  required(v, "failures", d.failures);
}

/// What other checkpoints and restarts would give at the best interval.
struct GoodputCell {
  double checkpoint_seconds = 0;
  double restart_seconds = 0;
  double interval_seconds = 0;
  double goodput = 0;
};

template <typename V>
void describe(V& v, GoodputCell& c) {
  required(v, "checkpoint_seconds", c.checkpoint_seconds);
  required(v, "restart_seconds", c.restart_seconds);
  required(v, "interval_seconds", c.interval_seconds);
  required(v, "goodput", c.goodput);
}

/// A whole training on one cluster.
struct TrainingPlan {
  std::int64_t training_version = kTrainingVersion;
  std::string name;
  std::string model;
  std::int64_t parameters = 0;
  std::string cluster;
  std::vector<StagePlan> stages;
  TrainingTime time;
  double goodput = 1;
  Bill bill;
  Bill low;  ///< 90 % range, of steps and of chance
  Bill high;
  double chance_share = 0;       ///< half of the 90 % range that failures alone make, as a part of the time
  double simulated_seconds = 0;  ///< the mean of simulated courses
  std::int64_t simulated_courses = 0;
  std::vector<TrainingDay> calendar;  ///< of the first course
  std::vector<GoodputCell> goodputs;  ///< at the failures of the stage that takes longest
  std::vector<std::string> assumptions;
};

template <typename V>
void describe(V& v, TrainingPlan& p) {
  required(v, "training_version", p.training_version);
  required(v, "name", p.name);
  required(v, "model", p.model);
  required(v, "parameters", p.parameters);
  required(v, "cluster", p.cluster);
  required(v, "stages", p.stages);
  required(v, "time", p.time);
  required(v, "goodput", p.goodput);
  required(v, "bill", p.bill);
  required(v, "low", p.low);
  required(v, "high", p.high);
  required(v, "chance_share", p.chance_share);
  required(v, "simulated_seconds", p.simulated_seconds);
  required(v, "simulated_courses", p.simulated_courses);
  v("calendar", p.calendar);
  v("goodputs", p.goodputs);
  v("assumptions", p.assumptions);
}

struct TrainingQuestion {
  ModelShape model;
  Cluster cluster;
  TrainingFile file;
  StepPlan practice;
  double reserve = kUsualReserve;
  std::uint64_t seed = 1;
};

/// Throws Error{usage} that names the stage where no split fits, or the stated one cannot be.
TrainingPlan plan_training(const TrainingQuestion& question, const StepBasis& basis);

/// The stage that takes longest.
const StagePlan& longest_stage(const TrainingPlan& plan);

/// Its job. Precondition: the plan answers the question.
StepJob longest_job(const TrainingQuestion& question, const TrainingPlan& plan);

/// One training beside the first.
struct TrainingRatio {
  std::string cluster;
  std::string beside;
  double hours = 1;  ///< ratios
  double hours_low = 1;
  double hours_high = 1;
  std::optional<double> price;
  std::optional<double> energy;
  std::optional<double> carbon;
  std::string rests_on;
};

template <typename V>
void describe(V& v, TrainingRatio& r) {
  required(v, "cluster", r.cluster);
  required(v, "beside", r.beside);
  required(v, "hours", r.hours);
  required(v, "hours_low", r.hours_low);
  required(v, "hours_high", r.hours_high);
  v("price", r.price);
  v("energy", r.energy);
  v("carbon", r.carbon);
  required(v, "rests_on", r.rests_on);
}

struct TrainingPlans {
  std::vector<TrainingPlan> plans;
  std::vector<TrainingRatio> ratios;
};

template <typename V>
void describe(V& v, TrainingPlans& p) {
  required(v, "plans", p.plans);
  v("ratios", p.ratios);
}

/// The same training on each cluster.
TrainingPlans plan_trainings(const std::vector<TrainingQuestion>& questions, const StepBasis& basis);

}  // namespace assay::predict
