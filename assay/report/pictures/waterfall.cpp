#include <algorithm>
#include <array>

#include "assay/core/text/units.hpp"
#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

/// Parts of a step that are no arithmetic, in words.
constexpr std::array<std::pair<const char*, const char*>, 3> kOtherPhases{
    {{"load", "waiting for input"}, {"communicate", "exchange"}, {"update", "update of weights"}}};

/// The headline where its peak is known, else the fastest result of which it is.
const Result* result_below_a_peak(const Evidence& evidence) {
  const auto* first = headline(evidence);
  // Of generated text the share is that of prefill alone.
  if (first != nullptr && first->share_of_peak && !first->generated) return first;
  const Result* best = nullptr;
  for (const auto* result : good_results(evidence)) {
    if (result->share_of_peak && !result->generated &&
        (best == nullptr || *result->flops_per_second > *best->flops_per_second))
      best = result;
  }
  return best;
}

/// Bars that each begin where the last one ended.
class Stairs {
 public:
  Stairs(Picture& picture, double total_ms) : picture_(picture), total_ms_(total_ms) {}

  /// At most what is left of the step.
  void add(const std::string& name, double ms, std::int64_t colour) {
    ms = std::min(ms, total_ms_ - reached_ms_);
    if (ms < 0.002 * total_ms_) return;
    put(name, reached_ms_, reached_ms_ + ms, ms, colour);
    if (ms > largest_ms_ && reached_ms_ > 0) {
      largest_ms_ = ms;
      largest_ = name;
    }
    reached_ms_ += ms;
  }
  void finish() {
    add("below the roofs", total_ms_ - reached_ms_, 1);
    put("measured", 0, total_ms_, total_ms_, 0);
  }
  std::string largest() const { return largest_; }
  double largest_share() const { return largest_ms_ / total_ms_; }

 private:
  void put(const std::string& name, double low, double high, double ms, std::int64_t colour) {
    const double x = static_cast<double>(picture_.x.categories.size());
    picture_.x.categories.push_back(name);
    picture_.series.push_back({.name = "", .kind = SeriesKind::bars, .colour = colour});
    picture_.series.back().marks.push_back({.x = x,
                                            .low = low,
                                            .high = high,
                                            .text = short_number(ms),
                                            .note = fmt::format("{:.0f} % of the step", 100 * ms / total_ms_)});
  }

  Picture& picture_;
  double total_ms_;
  double reached_ms_ = 0;
  double largest_ms_ = 0;
  std::string largest_;
};

}  // namespace

std::vector<Picture> waterfall_pictures(const Evidence& evidence) {
  const auto* result = result_below_a_peak(evidence);
  if (result == nullptr) return {};
  // What a step takes of the machine's time: with several instances less than it takes each of them.
  const double total_ms = 1e3 * static_cast<double>(result->trial.workload.batch) / *result->samples_per_second;
  Picture picture;
  picture.id = "waterfall";
  picture.question = "Why is it not faster?";
  picture.title = "From the measured peak to the measured step: " + title(result->trial);
  picture.command = command_of("assay show --roofline", evidence);
  picture.x.kind = PictureAxisKind::category;
  picture.y.title = "ms a step";
  Stairs stairs(picture, total_ms);
  const double arithmetic_ms = total_ms * *result->share_of_peak;
  stairs.add("arithmetic at the peak", arithmetic_ms, 2);
  const auto* bandwidth = evidence.roofline.bandwidth(result->platform);
  if (bandwidth != nullptr && result->bytes_per_second) {
    stairs.add("memory beyond it", total_ms * *result->bytes_per_second / bandwidth->bytes_per_second - arithmetic_ms,
               5);
  }
  if (const auto& phases = result->details.phases) {
    double sum = 0;
    for (const auto& phase : phases->seconds) sum += phase.second;
    for (const auto& [phase, words] : kOtherPhases) {
      const auto it = phases->seconds.find(phase);
      if (it != phases->seconds.end() && sum > 0) stairs.add(words, total_ms * it->second / sum, 4);
    }
  }
  stairs.finish();
  picture.answer = fmt::format(
      "A step of {} takes {} on average. At the rate of the best gemm measured here its arithmetic would take {}: "
      "{:.0f} "
      "% of the peak is reached.{}",
      title(result->trial.workload), format_duration(1e6 * total_ms), format_duration(1e6 * arithmetic_ms),
      100 * *result->share_of_peak,
      stairs.largest().empty()
          ? ""
          : fmt::format(" What costs most after it ({:.0f} %): {}.", 100 * stairs.largest_share(),
                        stairs.largest() == "below the roofs" ? "operators that reach neither roof, and the framework"
                                                              : stairs.largest()));
  return {picture};
}

}  // namespace assay::report
