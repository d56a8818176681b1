#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/predict/step/stack.hpp"
#include "assay/predict/step/step_drawing.hpp"

namespace assay::predict {

/// A step's time with its 90 % range.
struct RangedStep {
  double seconds = 0;
  double low_seconds = 0;
  double high_seconds = 0;
  StepTime step;
};

/// How many times as long one step takes as another.
struct RangedRatio {
  double ratio = 1;
  double low = 1;
  double high = 1;
  std::string rests_on;  ///< in words: what was taken to cancel
};

template <typename V>
void describe(V& v, RangedRatio& r) {
  required(v, "ratio", r.ratio);
  required(v, "low", r.low);
  required(v, "high", r.high);
  required(v, "rests_on", r.rests_on);
}

/// Where a step's constants come from, and how far they may be off: steps that a user measured, or the usual constants
/// with the spread that they have among the software stacks of published tables.
class StepBasis {
 public:
  /// The usual constants. Their errors are shared by all jobs: they cancel in ratios as far as both jobs depend on them
  /// alike.
  StepBasis();

  /// Constants from the measured jobs of a table. Throws Error{usage} where fewer than 10 were measured.
  StepBasis(const RowMap& map, const JobRows& rows);

  const StepConstants& constants(const StepDevice& device) const;

  /// Precondition: check(job) passes.
  RangedStep time_of(const StepJob& job) const;

  /// Its step as far as it is drawn. Throws what step_drawing() throws.
  StepDrawing drawing_of(const StepJob& job) const;

  /// `other` over `one`.
  RangedRatio ratio_of(const StepJob& one, const StepJob& other) const;

  bool is_calibrated() const { return stack_ != nullptr; }

  /// A sentence on what times rest on.
  std::string sentence() const;

 private:
  const Stack& stack() const;
  /// As rows write it, or as its data sheet does.
  const std::string& name_of(const StepDevice& device) const;
  JobRow row_of(const StepJob& job) const;
  std::vector<double> sensitivities(const StepJob& job) const;
  RangedRatio calibrated_ratio(const StepJob& one, const StepJob& other) const;

  StepConstants usual_;
  std::shared_ptr<const Stack> stack_;
  std::string name_;
  std::vector<std::pair<std::string, std::string>> devices_;  ///< name on the data sheet, and as rows write it
  std::vector<double> pair_differences_;                      ///< of logarithms of ratios, between jobs of one model
};

}  // namespace assay::predict
