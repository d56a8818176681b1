#include "assay/predict/step/rows_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace assay::predict {
namespace {

constexpr std::size_t kLeastCalibrated = 10;

RowPrediction row_prediction(const JobRow& job, const StackSays& said) {
  RowPrediction row;
  row.row = static_cast<std::int64_t>(job.row) + 1;
  row.model = job.model;
  row.device = job.device.empty() ? job.job.device.sheet.name : job.device;
  row.devices = job.job.plan.devices;
  row.seconds = said.seconds;
  row.low_seconds = said.low_seconds;
  row.high_seconds = said.high_seconds;
  row.range_rows = said.range_rows;
  row.regime = said.regime;
  row.new_device = said.new_device;
  row.memory = step_memory(job.job);
  row.memory_bytes = row.memory.total();
  row.fits = fits(row.memory, job.job.device);
  row.limit = limit_of(said.time);
  row.utilization = step_flops(job.job.model, job.job.plan) /
                    (said.seconds * static_cast<double>(row.devices) * job.job.device.sheet.bf16_flops_per_second);
  row.step = said.time;
  row.assumed = job.assumed;
  row.measured_seconds = job.measured_seconds;
  if (job.measured_seconds) row.error = said.seconds / *job.measured_seconds - 1;
  return row;
}

void add_scores(RowsPrediction& said) {
  std::vector<double> sizes;
  double worst = 0;
  double held = 0;
  for (const auto& row : said.rows) {
    if (!row.error) continue;
    sizes.push_back(std::abs(*row.error));
    if (sizes.back() > std::abs(worst)) worst = *row.error;
    if (row.low_seconds <= *row.measured_seconds && *row.measured_seconds <= row.high_seconds) ++held;
  }
  if (sizes.empty()) return;
  const auto count = static_cast<double>(sizes.size());
  double sum = 0;
  for (const double size : sizes) sum += size;
  std::sort(sizes.begin(), sizes.end());
  said.mean_error = sum / count;
  said.median_error = (sizes[(sizes.size() - 1) / 2] + sizes[sizes.size() / 2]) / 2;
  said.worst_error = worst;
  said.held_share = held / count;
}

void add_constants(const Stack& stack, RowsPrediction& said) {
  said.calibrated_rows = stack.rows();
  said.constants = stack.constants("");
  said.spreads = stack.spreads();
  said.refused_constants = stack.refused();
}

std::vector<JobRow> measured_of_groups(const JobRows& jobs, const std::string* without) {
  std::vector<JobRow> rows;
  for (const auto& row : jobs.rows) {
    if (row.measured_seconds && (without == nullptr || row.group != *without)) rows.push_back(row);
  }
  return rows;
}

void check_enough(const RowMap& map, std::size_t rows) {
  if (rows >= kLeastCalibrated) return;
  fail(ErrorKind::usage,
       "{} measured jobs of {} are too few to calibrate on: {} are needed. Name a table that has them: --calibrate.",
       rows, map.stack, kLeastCalibrated);
}

/// Every group with the constants of all others.
void leave_groups_out(const RowMap& map, const JobRows& jobs, RowsPrediction& said) {
  std::set<std::string> groups;
  for (const auto& row : jobs.rows) groups.insert(row.group);
  if (groups.size() < 2) {
    fail(ErrorKind::usage,
         "the measured jobs are one group by {}: none is left to calibrate on. Name measured jobs: --calibrate.",
         map.group.empty() ? "no column, since group: is empty" : map.group.front());
  }
  for (const auto& group : groups) {
    const auto others = measured_of_groups(jobs, &group);
    check_enough(map, others.size());
    const Stack stack(map, others);
    for (const auto& job : jobs.rows) {
      if (job.group == group) said.rows.push_back(row_prediction(job, stack.predict(job)));
    }
  }
  std::sort(said.rows.begin(), said.rows.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  said.notes.push_back(
      fmt::format("Each of {} groups of jobs is predicted with constants of the others.", groups.size()));
}

}  // namespace

StepLimit limit_of(const StepTime& t) {
  const double compute = t.compute_seconds + t.output_seconds + t.update_seconds;
  const double sent = t.tensor_seconds + t.shard_seconds + t.exchange_seconds + t.pipeline_seconds + t.gradient_seconds;
  if (t.bubble_seconds > std::max(compute, sent)) return StepLimit::bubble;
  if (sent > compute) return StepLimit::communication;
  return t.launch_bound ? StepLimit::launching : StepLimit::compute;
}

RowsPrediction predict_rows(const Stack& stack, const std::string& name, const JobRows& jobs) {
  RowsPrediction said;
  said.stack = name;
  for (const auto& one : jobs.refused) said.refused.push_back(fmt::format("row {}: {}", one.row + 1, one.why));
  add_constants(stack, said);
  for (const auto& job : jobs.rows) said.rows.push_back(row_prediction(job, stack.predict(job)));
  if (stack.rows() == 0) {
    said.notes.push_back(
        "No measured job: constants are usual ones, and ranges are a what-if. Nine of ten published jobs are within a "
        "factor of 1.5. Measured jobs of your own say more: --calibrate.");
  }
  add_scores(said);
  return said;
}

RowsPrediction predict_rows(const RowMap& map, const JobRows& jobs, const JobRows* known) {
  RowsPrediction said;
  said.stack = map.stack;
  for (const auto& one : jobs.refused) said.refused.push_back(fmt::format("row {}: {}", one.row + 1, one.why));
  const auto rows = measured_of_groups(known != nullptr ? *known : jobs, nullptr);
  if (known == nullptr && rows.empty()) return predict_rows(Stack(), map.stack, jobs);
  check_enough(map, rows.size());
  const Stack stack(map, rows);
  add_constants(stack, said);
  if (known != nullptr) {
    for (const auto& job : jobs.rows) said.rows.push_back(row_prediction(job, stack.predict(job)));
  } else {
    leave_groups_out(map, jobs, said);
  }
  add_scores(said);
  return said;
}

}  // namespace assay::predict
