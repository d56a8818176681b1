#pragma once

#include <optional>
#include <vector>

#include "assay/model/links/link_points.hpp"

namespace assay::model {

/// An estimate with its 90 % interval.
struct Estimate {
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
};

template <typename V>
void describe(V& v, Estimate& c) {
  required(v, "value", c.value);
  v("low", c.low);
  v("high", c.high);
}

/// What the points say of a link.
struct LinkConstants {
  Estimate alpha_seconds;
  Estimate beta_seconds_per_byte;
  std::optional<Estimate> gamma_seconds_per_byte;  ///< null: cannot be told from beta, which then holds it
  double inside_error = 0;  ///< relative, root of the mean square over (collective, ranks, bytes)
};

template <typename V>
void describe(V& v, LinkConstants& c) {
  required(v, "alpha_seconds", c.alpha_seconds);
  required(v, "beta_seconds_per_byte", c.beta_seconds_per_byte);
  v("gamma_seconds_per_byte", c.gamma_seconds_per_byte);
  required(v, "inside_error", c.inside_error);
}

/// A time, how often its algorithm pays each constant, and the run that it is from.
struct LinkTime {
  Collective collective = Collective::all_reduce;
  std::int64_t ranks = 2;
  double bytes = 0;
  double seconds = 0;
  std::string run;
  LinkUse use;
};

LinkTime link_time(const LinkPoint& point, CollectiveAlgorithm algorithm);

/// Seconds that a link gives a time's use.
double seconds_of(const LinkTime& time, const Link& link);

/// Non-negative constants with the least relative errors, each time weighted by what the fit itself says of it. gamma
/// is 0 where it cannot be told from beta. Precondition: not empty, every time above 0.
struct LinkSolution {
  Link link;
  bool gamma_told = false;
};
LinkSolution solve_link(const std::vector<LinkTime>& times);

/// The same of the medians of cells (collective, ranks, bytes), with intervals by a wild bootstrap with a fixed seed:
/// the residual of each cell changes its sign at random.
LinkConstants estimate_link(const std::vector<LinkTime>& times);

/// Root of the mean square of relative errors at the cells (collective, ranks, bytes) of the times, each by its median.
double relative_error(const std::vector<LinkTime>& times, const Link& link);

/// Medians over the runs of each cell.
std::vector<LinkTime> cell_medians(const std::vector<LinkTime>& times);

/// Relative standard error of a cell's median, from how its runs differ; 0 where no cell has two.
double cell_noise(const std::vector<LinkTime>& times);

}  // namespace assay::model
