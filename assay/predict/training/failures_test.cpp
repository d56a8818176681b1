#include "assay/predict/training/failures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "assay/predict/training/failure_simulation.hpp"

namespace assay::predict {
namespace {

constexpr double kHour = 3600;
constexpr double kDay = 86400;

FailurePractice practice_of(double hours_between, double checkpoint, double restart) {
  FailurePractice p;
  p.failures_per_second = 1 / (hours_between * kHour);
  p.checkpoint_seconds = checkpoint;
  p.restart_seconds = restart;
  return p;
}

/// The mean of several courses, and how far it may be off by chance.
struct Simulated {
  double seconds = 0;
  double error = 0;  ///< a standard error, as a part
  double waiting = 0;
};

Simulated simulated(double work, double interval, const FailurePractice& p, int courses) {
  double sum = 0;
  double squares = 0;
  double waiting = 0;
  for (int seed = 1; seed <= courses; ++seed) {
    const auto time = simulate_training(work, interval, p, static_cast<std::uint64_t>(seed), false).time;
    sum += time.seconds;
    squares += time.seconds * time.seconds;
    waiting += time.waiting_seconds;
  }
  const double mean = sum / courses;
  return {mean, std::sqrt(std::max(0.0, squares / courses - mean * mean) / courses) / mean, waiting / courses};
}

TEST(Failures, ATrainingOfOnePieceTakesDalysTime) {
  // Daly 2006, equation 13, for one piece: M e^(R/M) (e^((t + d)/M) - 1). M = 3600, t = 1800, d = 200, R = 600:
  // 3600 x e^(1/6) x (e^(2000/3600) - 1) = 3600 x 1.1813604 x 0.7429090 = 3159.52.
  const auto time = expected_time(1800, 1800, practice_of(1, 200, 600));
  EXPECT_NEAR(time.seconds, 3159.52, .05);
  EXPECT_NEAR(time.useful_seconds + time.checkpoint_seconds + time.lost_seconds + time.restart_seconds, time.seconds,
              1e-9);
  EXPECT_NEAR(time.failures, time.seconds / 3600, 1e-9);  // one an hour, whatever is done
}

TEST(Failures, WithoutFailuresOnlyCheckpointsCost) {
  FailurePractice p;
  p.checkpoint_seconds = 10;
  EXPECT_DOUBLE_EQ(expected_time(1000, 100, p).seconds, 1100);
  EXPECT_DOUBLE_EQ(expected_time(1050, 100, p).seconds, 1160);  // 10 whole pieces and a half
  EXPECT_EQ(best_interval(0, 10), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(simulate_training(1050, 100, p, 1, true).time.seconds, 1160);
}

TEST(Failures, TheBestIntervalIsYoungsWhereFailuresAreRare) {
  // sqrt(2 d M) - d is the second order: 20 s, 10 days: sqrt(2 x 20 x 864000) = 5878.8.
  EXPECT_NEAR(best_interval(1 / (10 * kDay), 20) / 5878.8, 1, .01);
  // x = f t is the root of (1 - x) e^(x + f d) = 1; with f d = ln 2 - 1/2 it is x = 1/2, since e^(ln 2) / 2 = 1.
  EXPECT_NEAR(best_interval(1.0 / 3600, 3600 * (std::log(2) - .5)) / 1800, 1, 1e-9);
}

TEST(Failures, FormulaAndSimulationAgreeWithinAHundredthOverAGrid) {
  double worst = 0;
  for (const double hours : {.5, 3.0, 24.0}) {
    for (const double checkpoint : {5.0, 60.0, 300.0}) {
      for (const double days : {2.0, 30.0, 90.0}) {
        for (const double restart : {120.0, 900.0}) {
          const auto p = practice_of(hours, checkpoint, restart);
          const double interval = best_interval(p.failures_per_second, checkpoint);
          const int courses = days < 10 ? 600 : 60;
          const auto said = expected_time(days * kDay, interval, p);
          const auto seen = simulated(days * kDay, interval, p, courses);
          const double off = std::abs(said.seconds / seen.seconds - 1);
          EXPECT_LT(off, .01) << hours << " h, " << checkpoint << " s, " << days << " days, " << restart << " s";
          EXPECT_LT(seen.error, .004);  // else agreement would say little
          worst = std::max(worst, off);
        }
      }
    }
  }
  RecordProperty("worst_parts_in_a_million", static_cast<int>(1e6 * worst));
}

TEST(Failures, TheBestIntervalIsTheSimulatedMinimumWithinItsFlatRegion) {
  for (const double hours : {1.0, 3.0, 12.0}) {
    for (const double checkpoint : {10.0, 60.0, 240.0}) {
      const auto p = practice_of(hours, checkpoint, 300);
      const double work = 60 * kDay;
      const double best = best_interval(p.failures_per_second, checkpoint);
      double least = std::numeric_limits<double>::infinity();
      double at = 0;
      for (double factor = .25; factor <= 4.01; factor *= std::pow(2, .25)) {
        const double seconds = simulated(work, factor * best, p, 40).seconds;
        if (seconds < least) {
          least = seconds;
          at = factor * best;
        }
      }
      // The flat region: where the mean is within half a hundredth of its least.
      EXPECT_LT(expected_time(work, at, p).seconds / expected_time(work, best, p).seconds, 1.005) << at << " " << best;
      EXPECT_LT(simulated(work, best, p, 40).seconds / least, 1.005);
    }
  }
}

TEST(Failures, TooFewSparesWaitAsErlangSays) {
  // One failure in 10 h and a repair of 20 h: 2 nodes on average. With 1 spare, 2 broken stop the job: B(2, 2) = (4 /
  // 2) / (1 + 2 + 4 / 2) = 0.4.
  auto p = practice_of(10, 30, 300);
  p.spare_nodes = 1;
  p.repair_seconds = 20 * kHour;
  EXPECT_NEAR(waiting_share(p), .4, 1e-12);
  p.spare_nodes = 0;  // B(1, 2) = 2 / 3
  EXPECT_NEAR(waiting_share(p), 2.0 / 3, 1e-12);
  for (const std::int64_t spares : {0, 1, 3, 6}) {
    p.spare_nodes = spares;
    const double interval = best_interval(p.failures_per_second, p.checkpoint_seconds);
    const auto said = expected_time(300 * kDay, interval, p);
    const auto seen = simulated(300 * kDay, interval, p, 60);
    EXPECT_NEAR(said.seconds / seen.seconds, 1, .01) << spares;
    EXPECT_NEAR(said.waiting_seconds / said.seconds, seen.waiting / seen.seconds, .01) << spares;
  }
  p.spare_nodes.reset();
  EXPECT_EQ(waiting_share(p), 0);
}

TEST(Failures, ACourseIsTheSameForTheSameSeed) {
  const auto p = practice_of(3, 60, 600);
  const auto a = simulate_training(10 * kDay, 1800, p, 7, true);
  const auto b = simulate_training(10 * kDay, 1800, p, 7, true);
  const auto c = simulate_training(10 * kDay, 1800, p, 8, true);
  EXPECT_EQ(a.time.seconds, b.time.seconds);
  EXPECT_NE(a.time.seconds, c.time.seconds);
  EXPECT_GT(a.failures.size(), 40u);  // about 80
  for (const auto& one : a.failures) EXPECT_GE(one.back_seconds - one.at_seconds, 600 - 1e-6);
}

TEST(Failures, ATrainingThatCannotEndIsRefused) {
  EXPECT_THROW(static_cast<void>(expected_time(30 * kDay, 100 * kHour, practice_of(.1, 60, 60))), Error);
}

}  // namespace
}  // namespace assay::predict
