#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/predict/step/row_map.hpp"

namespace assay::predict {

/// A time with its range, and what it rests on.
struct StackSays {
  StepTime time;
  double seconds = 0;  ///< time.seconds with the factors of the map's effects
  double low_seconds = 0;
  double high_seconds = 0;
  std::int64_t range_rows = 0;  ///< residuals that the range is from
  std::string regime;
  bool new_device = false;  ///< no row that was calibrated on has it

  /// How many times as long the step takes as the law alone says.
  double factor() const { return seconds / time.seconds; }
};

/// How a fit weighs its start and outliers (RowMap has what they mean), and the mean size of log residuals of whole
/// groups that were left out; 0 where nothing was tried.
struct FitChoice {
  double pull = .03;
  double softness = .1;
  double left_out_error = 0;
};

template <typename V>
void describe(V& v, FitChoice& c) {
  required(v, "pull", c.pull);
  required(v, "softness", c.softness);
  v("left_out_error", c.left_out_error);
}

/// A constant that rows determine, and how far it moves where whole groups of them are left out.
struct ConstantSpread {
  std::string name;
  double value = 0;
  std::optional<double> low;  ///< the least of all fits; null: the rows are one group
  std::optional<double> high;
};

template <typename V>
void describe(V& v, ConstantSpread& c) {
  required(v, "name", c.name);
  required(v, "value", c.value);
  v("low", c.low);
  v("high", c.high);
}

/// A constant that was to be found, and whose fit ended at its bound: it stays where it starts.
struct RefusedConstant {
  std::string name;
  std::string device;  ///< whose own constants they are; empty: of all rows
  double bound = 0;
  double value = 0;  ///< that is taken
  std::string told_by;
};

template <typename V>
void describe(V& v, RefusedConstant& c) {
  required(v, "name", c.name);
  v("device", c.device);
  required(v, "bound", c.bound);
  required(v, "value", c.value);
  required(v, "told_by", c.told_by);
}

/// A software stack whose constants were found from rows: what it says of another job.
class Stack {
 public:
  /// Constants of the map that rows determine, by least squares of log-ratios that are held where they start. Where the
  /// map does not state how strongly, that is chosen by leaving whole groups of these rows out. Ranges are conformal:
  /// residuals of rows whose whole group was left out, by regime. A constant that ends at its bound is refused, and the
  /// fit is made again without it. Rows without a measured time are left out. Throws
  /// Error{usage} where fewer than 3 have one.
  Stack(const RowMap& map, const std::vector<JobRow>& rows);

  /// Constants as they usually are, from no rows: what they say is a what-if. Nine of ten of 497 published jobs took no
  /// more than 1.5 times, and no less than 1 / 1.5 of, what they say.
  Stack();

  StackSays predict(const JobRow& job) const;

  std::int64_t rows() const { return rows_; }
  const StepConstants& constants(const std::string& device) const;

  /// What was tried, the best first; the first is used.
  const std::vector<FitChoice>& choices() const { return choices_; }

  /// Constants of all devices together that rows show, in the order of a fit.
  const std::vector<ConstantSpread>& spreads() const { return spreads_; }
  const std::vector<RefusedConstant>& refused() const { return refused_; }

 private:
  struct Constants {
    StepConstants all;
    std::map<std::string, StepConstants> by_device;
    std::vector<std::map<std::string, double>> effects;  ///< of logarithms, for each of the map's
  };
  struct Residual {
    std::string regime;
    double size = 0;
  };

  Constants fit(const RowMap& map, const FitChoice& choice, const std::vector<const JobRow*>& rows) const;
  static double log_seconds(const Constants& constants, const JobRow& job);
  double left_out_error(const RowMap& map, const FitChoice& choice, const std::vector<const JobRow*>& rows) const;
  void choose(const RowMap& map, const std::vector<const JobRow*>& rows);
  bool refuse_bounds(const RowMap& map);
  void add_ranges(const RowMap& map, const std::vector<const JobRow*>& rows);

  Constants constants_;
  std::vector<FitChoice> choices_;
  std::vector<ConstantSpread> spreads_;
  std::vector<RefusedConstant> refused_;
  std::vector<Residual> residuals_;  ///< of groups left out
  std::vector<double> new_devices_;  ///< of devices left out
  std::int64_t rows_ = 0;
  double most_devices_ = 1;
  bool assumed_ = false;
  std::map<std::string, std::int64_t> devices_;
};

/// Compute- or launch-bound, a group across nodes or not, dense or with experts.
std::string regime_of(const JobRow& job, const StepTime& time);

}  // namespace assay::predict
