#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/stats/interval.hpp"

namespace assay::stats {

/// Where a series changes its level.
struct ChangePoint {
  std::size_t index;             ///< of the first value of the new level
  double difference;             ///< of the means, new minus old, between the neighbouring change points
  Interval difference_interval;  ///< 95 %
  double p;                      ///< of Student's test that the levels are equal
};

struct ChangeRule {
  std::size_t window = 50;            ///< values looked at together: a change is seen against its neighbourhood
  double p = 1e-4;                    ///< a change point has no larger one
  double least = 0;                   ///< and no smaller difference
  std::size_t shortest = 3;           ///< a level has at least so many values
  std::vector<std::size_t> starts{};  ///< indexes at which a level may begin, in order; empty: at every one
};

/// Q = mn/(m+n) (2E|X-Y| - E|X-X'| - E|Y-Y'|) of each split into m values before an index and n from it on, by index;
/// 0 at index 0. In quadratic time, by moving one value after the other. D. Matteson and N. James, "A nonparametric
/// approach for multiple change point analysis of multivariate data", 2014.
std::vector<double> divergences(std::span<const double> series);

/// Change points in order of index. Windows that overlap by half are split where Q is largest, as long as Student's
/// test agrees; then the weakest points are taken away one by one until all keep the rule, as Apache Otava does. Three
/// things differ from it: a level that ends again within the window is also held against its beginning alone; the test
/// knows that neighbours in a series resemble each other (it counts fewer values where residuals are correlated); and
/// each point is placed again between its neighbours in the end.
std::vector<ChangePoint> change_points(std::span<const double> series, const ChangeRule& rule = {});

}  // namespace assay::stats
