#include "assay/predict/serving/step_table.hpp"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

/// 0, and from 1 to `most` four points a doubling, of which whole numbers below 8 are all.
std::vector<double> axis_to(double most) {
  std::vector<double> points{0};
  for (double x = 1; x < most; x = std::max(x + 1, std::ceil(x * 1.19))) points.push_back(x);
  points.push_back(std::max(most, points.back() + 1));
  return points;
}

/// The last interval of the axis whose beginning is not above x.
std::size_t interval_of(const std::vector<double>& axis, double x) {
  const auto above = std::upper_bound(axis.begin(), axis.end(), x);
  const auto index = static_cast<std::size_t>(above - axis.begin());
  return std::clamp<std::size_t>(index, 1, axis.size() - 1) - 1;
}

double weighed_step(const StepParts& parts, const StackConstants& c) {
  return c.products * (parts.products + parts.head) + c.attention * parts.attention +
         c.collectives * parts.collectives + parts.elementwise;
}

}  // namespace

double StepTable::Grid::at(double row, double column) const {
  const auto i = interval_of(rows, row);
  const auto k = interval_of(columns, column);
  const double down = (row - rows[i]) / (rows[i + 1] - rows[i]);
  const double right = (column - columns[k]) / (columns[k + 1] - columns[k]);
  const double* first = &values[i * columns.size() + k];
  const double* second = first + columns.size();
  return (1 - down) * ((1 - right) * first[0] + right * first[1]) +
         down * ((1 - right) * second[0] + right * second[1]);
}

StepTable::StepTable(const ServedModel& model, const KernelTimes& times, const StackConstants& constants, double batch,
                     double tokens) {
  const auto layers = static_cast<double>(model.shape.layers);
  const double fixed_seconds = 1e-6 * constants.layer_us * layers;
  decode_.rows = axis_to(batch);
  decode_.columns = {1, 256, 1024, 4096, 16384, std::max(32768.0, tokens)};
  for (const double sequences : decode_.rows) {
    for (const double context : decode_.columns) {
      const double kernels = weighed_step(step_parts(model, times, {sequences, context, 0, 0, 0}), constants);
      decode_.values.push_back(sequences > 0 ? kernels + fixed_seconds + 1e-6 * constants.sequence_us * sequences : 0);
    }
  }
  // A first token that comes sooner than its prompt should take says that prompts take less here.
  const double faster = std::min(1.0, constants.first);
  prompt_.rows = axis_to(std::max(8192.0, tokens));
  prompt_.columns = {0, 1024, 4096, 16384, std::max(32768.0, tokens)};
  for (const double own : prompt_.rows) {
    for (const double before : prompt_.columns) {
      const double kernels = weighed_step(step_parts(model, times, {0, 0, 1, own, before}), constants);
      prompt_.values.push_back(own > 0 ? faster * (constants.prefill * kernels + fixed_seconds) : 0);
    }
  }
  first_ = constants.first / faster;
  first_each_ = constants.first_each / faster;
}

StepTable StepTable::fixed(double decode_seconds, double prompt_token_seconds) {
  StepTable table;
  table.decode_ = {{0, 1, 2}, {0, 1}, {0, 0, decode_seconds, decode_seconds, decode_seconds, decode_seconds}};
  table.prompt_ = {{0, 1}, {0, 1}, {0, 0, prompt_token_seconds, prompt_token_seconds}};
  return table;
}

StepTable StepTable::with_first(double first, double first_each) const {
  auto other = *this;
  other.first_ = first;
  other.first_each_ = first_each;
  return other;
}

StepTable StepTable::slower(double factor) const {
  auto other = *this;
  for (auto* grid : {&other.decode_, &other.prompt_}) {
    for (double& value : grid->values) value *= factor;
  }
  return other;
}

double StepTable::decode(double sequences, double context) const {
  return sequences > 0 ? decode_.at(sequences, context) : 0;
}

double StepTable::prompt(double tokens, double before) const {
  return tokens > 0 ? prompt_.at(tokens, before) : 0;
}

double StepTable::first(double others) const {
  return first_ + first_each_ * others;
}

}  // namespace assay::predict
