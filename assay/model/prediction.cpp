#include "assay/model/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "assay/stats/moments.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::model {
namespace {

/// Of a normal distribution at 90 %: draws are summarised by their standard deviation.
constexpr double kNormal90 = 1.645;

std::vector<double> logs_of(const std::vector<Law>& laws, const std::vector<Factor>& factors,
                            const std::vector<double>& values) {
  std::vector<double> logs;
  for (const auto& law : laws) {
    const double seconds = Evaluator(law, factors).seconds(values);
    if (seconds > 0 && std::isfinite(seconds)) logs.push_back(std::log(seconds));
  }
  return logs;
}

/// The value that a level has in the model, or 0 where it was never measured. A number stands for its own text.
double value_in_model(const Range& range, const Factor& factor, double value) {
  const auto text = factor.names ? factor.names->at(static_cast<std::size_t>(value) - 1) : fmt::format("{:g}", value);
  const auto found = std::find(range.names->begin(), range.names->end(), text);
  return found == range.names->end() ? 0 : static_cast<double>(found - range.names->begin() + 1);
}

/// Why the model knows nothing of a level.
std::string never_measured(const Range& range, const Factor& factor, double value) {
  const auto text = factor.names ? factor.names->at(static_cast<std::size_t>(value) - 1) : fmt::format("{:g}", value);
  std::string known;
  for (const auto& name : *range.names) known += (known.empty() ? "" : ", ") + name;
  return fmt::format("{} = {} was never measured, and its constants are its own; measured were {}", range.factor,
                     shown(text), known);
}

/// Why the model knows nothing there; else sets how far out it is.
std::optional<std::string> outside(const Model& model, const std::map<std::string, double>& asked, double& doublings) {
  for (const auto& fixed : model.fixed) {
    const auto found = asked.find(fixed.factor);
    if (found != asked.end() && found->second != fixed.value) {
      return fmt::format("{} was seen at {:g} only; nothing is known of {:g}", fixed.factor, fixed.value,
                         found->second);
    }
  }
  for (const auto& range : model.ranges) {
    if (range.names) continue;
    const double value = asked.at(range.factor);
    const double out = std::max({0.0, std::log2(value / range.high), std::log2(range.low / value)});
    doublings = std::max(doublings, out);
    if (out > kMostDoublings) {
      return fmt::format("{} = {:g} is {:.1f} doublings beyond {:g} to {:g}, where it was measured", range.factor,
                         value, out, range.low, range.high);
    }
  }
  return std::nullopt;
}

}  // namespace

Prediction predict(const Model& model, const std::vector<Factor>& factors, const std::vector<double>& values) {
  Prediction prediction;
  std::map<std::string, double> asked;
  for (std::size_t f = 0; f < factors.size(); ++f) asked[factors[f].name] = values[f];
  for (const auto& range : model.ranges) {
    if (asked.count(range.factor) == 0) {
      fail(ErrorKind::usage, "the model needs a value of {}.", shown(range.factor));
    }
    if (!range.names) continue;
    const auto f = index_of(factors, range.factor);
    asked[range.factor] = value_in_model(range, factors[f], values[f]);
    if (asked[range.factor] == 0) {
      prediction.refused = never_measured(range, factors[f], values[f]);
      return prediction;
    }
  }
  prediction.refused = outside(model, asked, prediction.doublings);
  if (prediction.refused) return prediction;
  const auto own = factors_of(model);
  std::vector<double> point;
  for (const auto& factor : own) point.push_back(asked.at(factor.name));
  const double seconds = Evaluator(model.law, own).seconds(point);
  if (!(seconds > 0) || !std::isfinite(seconds)) {
    prediction.refused = "the law gives no positive time there";
    return prediction;
  }
  const auto& doubt = model.uncertainty;
  const auto draws = logs_of(doubt.draws, own, point);
  const double drawn = kNormal90 * std::sqrt(stats::variance(draws).value_or(0));
  const double half = std::hypot(doubt.inside, drawn, doubt.per_doubling * prediction.doublings);
  double low = std::log(seconds) - half;
  double high = std::log(seconds) + half;
  if (prediction.doublings > 0) {
    for (const double rival : logs_of(doubt.rivals, own, point)) {
      low = std::min(low, rival - doubt.inside);
      high = std::max(high, rival + doubt.inside);
    }
  }
  prediction.seconds = seconds;
  prediction.low = std::exp(low);
  prediction.high = std::exp(high);
  return prediction;
}

Score score(const Model& model, const Table& table) {
  Score result;
  std::vector<double> errors;
  std::vector<double> noise;
  std::int64_t inside = 0;
  for (const auto& point : points_of(table)) {
    ++result.points;
    const double measured = point.median();
    for (const double run : point.seconds) {
      if (point.seconds.size() > 1) noise.push_back(std::abs(run / measured - 1));
    }
    const auto said = predict(model, table.factors, point.values);
    if (said.refused) {
      ++result.refused;
      continue;
    }
    errors.push_back(std::abs(*said.seconds / measured - 1));
    if (measured >= *said.low && measured <= *said.high) ++inside;
  }
  if (!errors.empty()) {
    result.median_error = stats::median(errors);
    result.worst_error = *std::max_element(errors.begin(), errors.end());
    result.coverage = static_cast<double>(inside) / static_cast<double>(errors.size());
  }
  if (!noise.empty()) result.noise = stats::median(noise);
  return result;
}

}  // namespace assay::model
