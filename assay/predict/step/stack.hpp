#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/predict/step/row_map.hpp"

namespace assay::predict {

/// A time with its range, and what it rests on.
struct StackSays {
  StepTime time;
  double seconds = 0;  ///< time.seconds with the factors of model and device
  double low_seconds = 0;
  double high_seconds = 0;
  std::int64_t range_rows = 0;  ///< residuals that the range is from
  std::string regime;
  bool new_device = false;  ///< no row that was calibrated on has it
};

/// A software stack whose constants were found from rows: what it says of another job.
class Stack {
 public:
  /// Constants of the map that rows determine, by least squares of log-ratios that are held where they start. Ranges
  /// are conformal: residuals of rows whose whole group was left out, by regime. Rows without a measured time are left
  /// out. Precondition: at least 3 rows with one.
  Stack(const RowMap& map, const std::vector<JobRow>& rows);

  StackSays predict(const JobRow& job) const;

  std::int64_t rows() const { return rows_; }
  const StepConstants& constants(const std::string& device) const;

 private:
  struct Constants {
    StepConstants all;
    std::map<std::string, StepConstants> by_device;
    std::map<std::string, double> model_effect;  ///< of logarithms
    std::map<std::string, double> device_effect;
  };
  struct Residual {
    std::string regime;
    double size = 0;
  };

  static Constants fit(const RowMap& map, const std::vector<const JobRow*>& rows);
  static double log_seconds(const Constants& constants, const JobRow& job);
  void add_ranges(const RowMap& map, const std::vector<const JobRow*>& rows);

  Constants constants_;
  std::vector<Residual> residuals_;  ///< of groups left out
  std::vector<double> new_devices_;  ///< of devices left out
  std::int64_t rows_ = 0;
  double most_devices_ = 1;
  std::map<std::string, std::int64_t> devices_;
};

/// Compute- or launch-bound, a group across nodes or not, dense or with experts.
std::string regime_of(const JobRow& job, const StepTime& time);

}  // namespace assay::predict
