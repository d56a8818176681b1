#include "assay/predict/calibration/calibrated_rows.hpp"

#include <algorithm>

#include "assay/predict/calibration/named_columns.hpp"
#include "assay/predict/devices/kernel_law.hpp"

namespace assay::predict {
namespace {

constexpr double kCalibratedShare = .9;

constexpr std::size_t kMostMessages = 10'000;  // of one row
constexpr const char* kMessagesHint = " Write bytes, or READY:BYTES, with ; between.";

SentMessage message_of_text(const NamedColumns& file, std::size_t row, std::string_view text) {
  SentMessage message;
  const auto colon = text.find(':');
  if (colon != std::string_view::npos)
    message.ready_share = file.number_in(text.substr(0, colon), row, "messages", kMessagesHint);
  const auto bytes = colon == std::string_view::npos ? text : text.substr(colon + 1);
  message.bytes = file.number_in(bytes, row, "messages", kMessagesHint);
  if (message.ready_share > 1 || !(message.bytes > 0)) {
    file.wrong(row,
               fmt::format("messages: {} is ready at a share above 1, or has no bytes.", shown(std::string(text))));
  }
  return message;
}

std::vector<SentMessage> messages_of(const NamedColumns& file, std::size_t row) {
  const std::string_view cell = file.text(row, "messages");
  std::vector<SentMessage> messages;
  for (std::size_t begin = 0; begin < cell.size();) {
    const auto end = std::min(cell.find(';', begin), cell.size());
    messages.push_back(message_of_text(file, row, cell.substr(begin, end - begin)));
    if (messages.size() > kMostMessages) file.wrong(row, "there are more than 10,000 messages. Join some.");
    begin = end + 1;
  }
  return messages;
}

MeasuredStep step_of_file(const NamedColumns& file, std::size_t row) {
  MeasuredStep step;
  step.job = file.text(row, "job");
  step.link = file.text(row, "link");
  step.devices = file.count(row, "devices");
  step.devices_per_node = file.count(row, "devices_per_node");
  step.seconds = file.number(row, "seconds");
  step.alone_seconds = file.number(row, "alone_seconds");
  step.backward_seconds =
      file.has("backward_seconds") ? file.number(row, "backward_seconds") : step.alone_seconds * 2 / 3;
  if (file.has("extra_seconds")) step.extra_seconds = file.number(row, "extra_seconds");
  if (file.has("spread_seconds") && !file.text(row, "spread_seconds").empty()) {
    step.spread_seconds = file.number(row, "spread_seconds");
  }
  step.messages = messages_of(file, row);
  return step;
}

bool overlaps_in(const std::vector<MeasuredStep>& steps, const std::string& job) {
  for (const auto& step : steps) {
    if (step.job != job) continue;
    for (const auto& message : step.messages) {
      if (message.ready_share < 1) return true;
    }
  }
  return false;
}

/// A job sends over a link in so many messages: what tells ways to train apart.
bool is_same_way(const MeasuredStep& a, const MeasuredStep& b) {
  const bool joined = a.messages.size() == b.messages.size();
  return a.job == b.job && a.link == b.link && a.devices_per_node == b.devices_per_node && joined;
}

/// Of each way the row with most devices.
std::vector<MeasuredStep> ways_of(const std::vector<MeasuredStep>& steps) {
  std::vector<MeasuredStep> ways;
  for (const auto& step : steps) {
    if (step.devices == 1) continue;
    const auto found = std::find_if(ways.begin(), ways.end(), [&](const auto& one) { return is_same_way(one, step); });
    if (found == ways.end()) {
      ways.push_back(step);
    } else if (step.devices > found->devices) {
      *found = step;
    }
  }
  return ways;
}

/// How far each row is from what the others say of it, as sizes of logarithms. A row whose job or link no other has is
/// not among them.
std::vector<double> left_out_sizes(const std::vector<MeasuredStep>& steps) {
  std::vector<double> sizes;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].devices == 1) continue;
    auto others = steps;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    try {
      sizes.push_back(std::abs(std::log(step_seconds(steps[i], calibrate(others)) / steps[i].seconds)));
    } catch (const Error&) {
      continue;
    }
  }
  return sizes;
}

/// A row that is left out is mostly one doubling away from others; the error is taken to grow by as much with each.
void add_ranges(const std::vector<MeasuredStep>& steps, ClusterCalibration& out) {
  const auto sizes = left_out_sizes(steps);
  out.range_rows = static_cast<std::int64_t>(sizes.size());
  if (sizes.empty()) return;
  std::int64_t most = 1;
  for (const auto& step : steps) most = std::max(most, step.devices);
  const double width = conformal_width(sizes, kCalibratedShare);
  for (auto& point : out.points) {
    const double doublings = std::log2(static_cast<double>(point.devices) / static_cast<double>(most));
    const double size = width * std::max(1.0, doublings);
    point.low_seconds = point.seconds * std::exp(-size);
    point.high_seconds = point.seconds * std::exp(size);
  }
}

}  // namespace

std::vector<MeasuredStep> parse_measured_steps(std::string_view csv, const std::string& name) {
  const NamedColumns file(csv, name,
                          "Rows to calibrate on have the columns job, link, devices, devices_per_node, seconds, "
                          "alone_seconds and messages.");
  std::vector<MeasuredStep> steps;
  for (std::size_t row = 0; row < file.rows(); ++row) steps.push_back(step_of_file(file, row));
  return steps;
}

ClusterCalibration calibrate_rows(const std::vector<MeasuredStep>& steps, const std::vector<std::int64_t>& devices) {
  ClusterCalibration out;
  out.constants = calibrate(steps);
  for (const auto& [job, constants] : out.constants.jobs) {
    if (!overlaps_in(steps, job)) out.no_overlap.push_back(job);
  }
  for (const auto& step : steps) {
    if (step.devices == 1) continue;
    const double said = step_seconds(step, out.constants);
    const double error = said / step.seconds - 1;
    out.rows.push_back({step.job, step.link, step.devices, static_cast<std::int64_t>(step.messages.size()),
                        step.seconds, said, error});
    out.mean_error += std::abs(error);
    out.worst_error = std::max(out.worst_error, std::abs(error));
  }
  out.mean_error /= static_cast<double>(out.rows.size());
  for (auto way : ways_of(steps)) {
    for (const auto count : devices) {
      way.devices = count;
      const double seconds = step_seconds(way, out.constants);
      out.points.push_back({way.job, way.link, count, static_cast<std::int64_t>(way.messages.size()), seconds,
                            way.alone_seconds / seconds, std::nullopt, std::nullopt});
    }
  }
  add_ranges(steps, out);
  return out;
}

}  // namespace assay::predict
