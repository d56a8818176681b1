#include <map>

#include "assay/core/text/units.hpp"
#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostLoads = 3;

/// Results of one server that differ in their rate alone, by rate.
using RateSweep = std::map<double, const Result*>;

std::vector<RateSweep> rate_sweeps(const Evidence& evidence) {
  std::map<std::string, RateSweep> by_key;
  std::vector<std::string> order;
  for (const auto* result : good_results(evidence)) {
    auto trial = result->trial;
    if (!trial.workload.load || !trial.workload.load->rate_per_second) continue;
    const double rate = *trial.workload.load->rate_per_second;
    trial.workload.load->rate_per_second.reset();
    trial.workload.load->requests.reset();  // a search has shorter runs far from the edge
    trial.workload.load->warm_up_seconds = 0;
    const auto [it, is_new] = by_key.try_emplace(trial_id(trial) + result->platform);
    it->second[rate] = result;
    if (is_new) order.push_back(it->first);
  }
  std::vector<RateSweep> sweeps;
  for (const auto& key : order) {
    if (by_key[key].size() > 1 && sweeps.size() < kMostLoads) sweeps.push_back(by_key[key]);
  }
  return sweeps;
}

/// What was answered of what was offered at the highest rate, and where latency has doubled.
std::string load_answer(const RateSweep& sweep) {
  const auto& [most, last] = *sweep.rbegin();
  auto text = fmt::format("At {}/s offered {}/s were answered.", short_number(most),
                          short_number(last->samples_per_second.value_or(0)));
  const auto& [least, first] = *sweep.begin();
  for (const auto& [rate, result] : sweep) {
    if (*result->median_ns <= 2 * *first->median_ns) continue;
    return text + fmt::format(" From {}/s on the median latency is more than twice that of {}/s, {}.",
                              short_number(rate), short_number(least), format_duration(*first->median_ns));
  }
  return text + fmt::format(" The median latency is {} or less at each rate.", format_duration(*last->median_ns));
}

Picture load_picture(const RateSweep& sweep, const Evidence& evidence, std::size_t number, bool rates) {
  Picture picture;
  picture.id = fmt::format("{}-{}", rates ? "load-throughput" : "load-latency", number);
  picture.question = "How much does the server hold?";
  const auto& load = *sweep.begin()->second->trial.workload.load;
  picture.title =
      fmt::format("{} of {} by rate", rates ? "Answered requests" : "Latency from the schedule", load.server);
  picture.answer = rates ? load_answer(sweep)
                         : "Each line joins medians over runs; requests that failed are slower than all others.";
  picture.command = command_of("assay show --all", evidence);
  picture.x.title = "requests offered each second";
  picture.y.title = rates ? "requests answered each second" : "ms";
  if (rates) {
    Series line{.name = "answered", .kind = SeriesKind::line, .colour = 0};
    for (const auto& [rate, result] : sweep) {
      if (!result->samples_per_second) continue;
      line.marks.push_back({.x = rate, .y = *result->samples_per_second, .note = fmt::format("{} runs", result->ok)});
    }
    picture.series.push_back(std::move(line));
    return picture;
  }
  const std::pair<const char*, std::optional<double> (*)(const Result&)> quantiles[] = {
      {"p50", [](const Result& r) { return r.median_ns; }},
      {"p90", [](const Result& r) { return r.p90.ns; }},
      {"p99", [](const Result& r) { return r.p99.ns; }}};
  for (const auto& [name, value] : quantiles) {
    Series line{.name = name, .kind = SeriesKind::line, .colour = static_cast<std::int64_t>(picture.series.size())};
    for (const auto& [rate, result] : sweep) {
      if (const auto ns = value(*result)) {
        line.marks.push_back({.x = rate, .y = *ns * 1e-6, .note = fmt::format("{} runs", result->ok)});
      }
    }
    if (!line.marks.empty()) picture.series.push_back(std::move(line));
  }
  return picture;
}

}  // namespace

std::vector<Picture> load_pictures(const Evidence& evidence) {
  std::vector<Picture> pictures;
  for (const auto& sweep : rate_sweeps(evidence)) {
    const auto number = pictures.size() / 2 + 1;
    for (const bool rates : {true, false}) pictures.push_back(load_picture(sweep, evidence, number, rates));
  }
  return pictures;
}

}  // namespace assay::report
