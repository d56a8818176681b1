#include "assay/predict/threads/thread_law_fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "assay/core/error.hpp"
#include "assay/model/least_squares.hpp"

namespace assay::predict {
namespace {

constexpr double kSameError = 0.1;  // of a step: what fresh processes differ by

/// Operators of a step on several threads, so that they and what is before each add up to it.
std::vector<double> seconds_on_threads(const MeasuredSetting& step, const OperatorTimes& alone) {
  double sum = 0;
  double rest = step.seconds;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < alone.operators.size(); ++i) {
    const bool runs = alone.operators[i].seconds > 0;
    seconds.push_back(runs ? step.times.operators[i].seconds : 0);
    sum += seconds.back();
    if (runs) rest -= alone.dispatch_seconds;
  }
  for (auto& one : seconds) one *= sum > 0 && rest > 0 ? rest / sum : 1;
  return seconds;
}

OperatorLaw fit_operators(const std::vector<MeasuredSetting>& measured, bool heavy) {
  const auto& alone = measured.front().times;
  std::vector<std::array<double, 3>> rows;
  for (const auto& step : measured) {
    const auto threads = static_cast<double>(step.setting.intra_op);
    if (step.setting.intra_op == 1 || step.setting.inter_op > 1) continue;
    const auto seconds = seconds_on_threads(step, alone);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const auto& op = alone.operators[i];
      if (op.heavy != heavy || !(op.seconds > 0)) continue;
      rows.push_back({op.seconds * (1 - 1 / threads), 1, seconds[i] - op.seconds / threads});
    }
  }
  if (rows.empty()) return {};
  const auto count = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd a(count, 2);
  Eigen::VectorXd b(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    a.row(i) << row[0], row[1];
    b(i) = row[2];
  }
  const auto x = model::non_negative_least_squares(a, b);
  if (x(0) <= 1) return {x(0), x(1)};
  // More threads only cost: all of it is serial, and the rest is starting them.
  return {1, std::max((b - a.col(0)).mean(), 0.0)};
}

/// The share of idle time, 0 to 1, that explains the CPUs in use. They grow with it evenly: from none and all follows
/// what is between.
double fit_spin(const std::vector<const MeasuredSetting*>& steps,
                const std::function<double(const MeasuredSetting&, double)>& cpus) {
  double sum = 0;
  double count = 0;
  for (const auto* step : steps) {
    const double none = cpus(*step, 0);
    const double all = cpus(*step, 1);
    if (!step->cpus || all - none < 0.01) continue;
    sum += std::clamp((*step->cpus - none) / (all - none), 0.0, 1.0);
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

class ThreadLawFitter {
 public:
  ThreadLawFitter(const std::vector<MeasuredSetting>& measured, std::int64_t cores)
      : measured_(measured), machine_{cores, {}}, operators_(measured.front().times.operators) {
    for (const auto& step : measured) {
      const bool threads = step.setting.intra_op > 1;
      const bool pools = step.setting.inter_op > 1;
      if (threads || pools) (threads && pools ? crowded_ : threads ? threaded_ : pooled_).push_back(&step);
    }
  }

  ThreadLawFit fit() {
    if (threaded_.empty()) {
      fail(ErrorKind::usage,
           "laws of threads need a step with several of them, and only one CPU can be used here. Give laws that were "
           "measured elsewhere: --laws FILE.json.");
    }
    laws_.heavy = fit_operators(measured_, true);
    laws_.light = fit_operators(measured_, false);
    laws_.dispatch_seconds = measured_.front().times.dispatch_seconds;
    laws_.sharing = ThreadSharing::shared;
    laws_.thread_spin = fit_spin(threaded_, [&](const MeasuredSetting& step, double share) {
      laws_.thread_spin = share;
      return cpus(step);
    });
    fit_pools();
    laws_.pool_spin = fit_spin(pooled_, [&](const MeasuredSetting& step, double share) {
      laws_.pool_spin = share;
      return cpus(step);
    });
    fit_crowding();
    ThreadLawFit out{laws_, {}};
    for (const auto& step : measured_) out.points.push_back({step.setting, step.seconds, play(step).seconds});
    return out;
  }

 private:
  ThreadPrediction play(const MeasuredSetting& step) const {
    return schedule_step(operators_, laws_, machine_, step.setting);
  }

  double cpus(const MeasuredSetting& step) const {
    const auto played = play(step);
    return played.cpu_seconds / played.seconds;
  }

  /// Mean, as a share of a step.
  double error_of(const std::vector<const MeasuredSetting*>& steps) const {
    double error = 0;
    for (const auto* step : steps) error += std::abs(std::log(play(*step).seconds / step->seconds));
    return error / static_cast<double>(steps.size());
  }

  void fit_pools() {
    if (pooled_.empty()) return;
    std::vector<double> tried{0};
    for (double seconds = 1e-7; seconds < 0.1; seconds *= 1.1) tried.push_back(seconds);
    double least = std::numeric_limits<double>::infinity();
    double handover = 0;
    std::optional<std::int64_t> most;
    for (const auto& at_once : {std::optional<std::int64_t>{}, std::optional<std::int64_t>{1}}) {
      laws_.most_at_once = at_once;
      double own_least = std::numeric_limits<double>::infinity();
      double own = 0;
      for (const double seconds : tried) {
        laws_.handover_seconds = seconds;
        if (const double error = error_of(pooled_); error < own_least) {
          own_least = error;
          own = seconds;
        }
      }
      const bool as_good = own_least < least + kSameError && own < handover;
      if (own_least < least - kSameError || as_good) {
        least = own_least;
        handover = own;
        most = at_once;
      }
    }
    laws_.most_at_once = most;
    laws_.handover_seconds = handover;
  }

  void fit_crowding() {
    if (crowded_.empty()) return;
    double least = std::numeric_limits<double>::infinity();
    double best = 1;
    for (int tenths = 10; tenths <= 80; ++tenths) {
      laws_.crowding = 0.1 * tenths;
      if (const double error = error_of(crowded_); error < least * (1 - 1e-9)) {
        least = error;
        best = laws_.crowding;
      }
    }
    laws_.crowding = best;
  }

  const std::vector<MeasuredSetting>& measured_;
  ThreadMachine machine_;
  const std::vector<OperatorTime>& operators_;
  std::vector<const MeasuredSetting*> threaded_;
  std::vector<const MeasuredSetting*> pooled_;
  std::vector<const MeasuredSetting*> crowded_;
  ThreadLaws laws_;
};

}  // namespace

ThreadLawFit fit_thread_laws(const std::vector<MeasuredSetting>& measured, std::int64_t cores) {
  ASSAY_CHECK(!measured.empty() && measured.front().setting.inter_op == 1 && measured.front().setting.intra_op == 1);
  return ThreadLawFitter(measured, cores).fit();
}

}  // namespace assay::predict
