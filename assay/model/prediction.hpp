#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/model/model.hpp"

namespace assay::model {

/// What a model says of one point.
struct Prediction {
  std::optional<double> seconds;
  std::optional<double> low;
  std::optional<double> high;
  double doublings = 0;                ///< beyond what was seen, of the factor that is furthest out
  std::optional<std::string> refused;  ///< why it says nothing
};

template <typename V>
void describe(V& v, Prediction& p) {
  v("seconds", p.seconds);
  v("low", p.low);
  v("high", p.high);
  v("doublings", p.doublings);
  v("refused", p.refused);
}

/// Beyond this a law is a guess.
constexpr double kMostDoublings = 4;

/// `values` in the order of `factors`, which must hold every factor of the model. Refuses where a fixed factor has
/// another value, or one is further out than kMostDoublings.
Prediction predict(const Model& model, const std::vector<Factor>& factors, const std::vector<double>& values);

/// How a model does on measurements.
struct Score {
  std::int64_t points = 0;
  std::int64_t refused = 0;
  std::optional<double> median_error;  ///< of |said / measured - 1|
  std::optional<double> worst_error;
  std::optional<double> coverage;  ///< share of medians inside their interval
  std::optional<double> noise;     ///< median of |run / median of its point - 1|, where points were measured again
};

template <typename V>
void describe(V& v, Score& s) {
  required(v, "points", s.points);
  v("refused", s.refused);
  v("median_error", s.median_error);
  v("worst_error", s.worst_error);
  v("coverage", s.coverage);
  v("noise", s.noise);
}

Score score(const Model& model, const Table& table);

}  // namespace assay::model
