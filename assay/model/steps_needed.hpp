#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/workload.hpp"
#include "assay/stats/interval.hpp"
#include "assay/store/store.hpp"

namespace assay::model {

/// What makes trainings the same, wherever they are computed: they need as many steps with any framework, setting and
/// machine. By name as text: network and its options, precision, batch (of all processes), optimizer, learning_rate.
using TrainingKind = std::map<std::string, std::string>;

/// The training of a trial; null where it learns nothing.
std::optional<TrainingKind> training_of(const Trial& trial);

/// What a trial in mode train computes in a step, whether it learns or not: the same without optimizer and
/// learning_rate.
TrainingKind step_of(const Trial& trial);

/// Whether it has all texts of `asked`; numbers are compared as such.
bool is_one_of(const TrainingKind& training, const TrainingKind& asked);

/// Steps to an accuracy over the runs of one training, each of which has a seed of its own. A run that ended without it
/// counts as one that needs more than any that has.
struct StepsNeeded {
  TrainingKind training;
  double accuracy = 0;  ///< share of the held-out samples
  std::int64_t batch = 1;
  std::int64_t runs = 0;
  std::int64_t reached = 0;
  std::int64_t epochs = 0;           ///< after which a run ended at the latest
  double steps = 0;                  ///< median
  std::optional<double> low_steps;   ///< of its 95 % interval, which needs 6 runs
  std::optional<double> high_steps;  ///< null also where the interval has no end, since too few have reached it
};

template <typename V>
void describe(V& v, StepsNeeded& s) {
  required(v, "training", s.training);
  required(v, "accuracy", s.accuracy);
  required(v, "batch", s.batch);
  required(v, "runs", s.runs);
  required(v, "reached", s.reached);
  required(v, "epochs", s.epochs);
  required(v, "steps", s.steps);
  v("low_steps", s.low_steps);
  v("high_steps", s.high_steps);
}

/// Runs of trials that learn, by what they learnt.
class LearntRuns {
 public:
  LearntRuns(const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& runs);

  /// Steps to `accuracy` of the one training that has all texts of `asked`. Only runs that were to reach as much or
  /// more count, so that none was chosen by where it ended; of those the ones with the most epochs. Disturbed runs
  /// count too: a neighbour changes times and not what is learnt. Throws Error{usage} where no training or several are
  /// meant, or where half of the runs or more have not reached it.
  StepsNeeded steps_to(double accuracy, const TrainingKind& asked) const;

 private:
  struct Run {
    double target = 0;
    std::int64_t most_epochs = 0;
    std::int64_t batch = 1;
    std::int64_t held_out = 0;
    std::vector<std::int64_t> correct;  ///< after each epoch
  };

  static StepsNeeded of_runs(double accuracy, const TrainingKind& training, const std::vector<Run>& runs);

  std::map<TrainingKind, std::vector<Run>> of_;
};

/// A time, and between which ends it is where that is known.
struct TimeTo {
  double seconds = 0;
  std::optional<double> low_seconds;
  std::optional<double> high_seconds;
};

template <typename V>
void describe(V& v, TimeTo& t) {
  required(v, "seconds", t.seconds);
  v("low_seconds", t.low_seconds);
  v("high_seconds", t.high_seconds);
}

/// A training to an accuracy, and how long it takes.
struct ToAccuracy {
  StepsNeeded needed;
  TimeTo time;
};

template <typename V>
void describe(V& v, ToAccuracy& a) {
  required(v, "needed", a.needed);
  required(v, "time", a.time);
}

/// So many steps, each of which takes so long. Ends are products of ends: two intervals of 95 % give one of at least
/// 90 %, since each misses with at most 5 %.
TimeTo time_to(const StepsNeeded& needed, const TimeTo& step);

}  // namespace assay::model
