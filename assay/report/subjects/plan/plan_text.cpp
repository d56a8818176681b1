#include "assay/report/subjects/plan/plan_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "assay/core/text/units.hpp"
#include "assay/report/pictures/picture.hpp"

namespace assay::report {

std::string long_duration(double seconds) {
  constexpr double kHour = 3600;
  constexpr double kDay = 24 * kHour;
  if (seconds >= 2 * kDay) return fmt::format("{:.4g} days", seconds / kDay);
  if (seconds >= 2 * kHour) return fmt::format("{:.4g} h", seconds / kHour);
  return format_seconds(seconds);
}

std::string memory_size(double bytes) {
  constexpr double kMostShown = 9e18;
  return format_bytes(static_cast<std::int64_t>(std::min(bytes, kMostShown)));
}

std::string amount(const std::optional<double>& value) {
  return value ? short_number(*value) : "";
}

std::string duration_range(double low_seconds, double high_seconds) {
  return long_duration(low_seconds) + " to " + long_duration(high_seconds);
}

Table step_parts(const predict::StepTime& step) {
  const std::vector<std::pair<const char*, double>> parts{{"computing of layers", step.compute_seconds},
                                                          {"sums of tensor groups", step.tensor_seconds},
                                                          {"gathers of shards", step.shard_seconds},
                                                          {"exchanges", step.exchange_seconds},
                                                          {"from stage to stage", step.pipeline_seconds},
                                                          {"output layer", step.output_seconds},
                                                          {"bubble of the pipeline", step.bubble_seconds},
                                                          {"gradients over replicas", step.gradient_seconds},
                                                          {"update", step.update_seconds}};
  Table table({{"of the step"}, {"time", Table::Align::right}, {"share", Table::Align::right}});
  for (const auto& [name, seconds] : parts) {
    if (!(seconds > 0)) continue;
    table.add({name, long_duration(seconds), fmt::format("{:.1f} %", 100 * seconds / step.seconds)});
  }
  return table;
}

}  // namespace assay::report
