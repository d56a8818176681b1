#include "assay/predict/step/pipeline_order.hpp"

#include <algorithm>

namespace assay::predict {
namespace {

std::vector<Pass> zero_bubble_order(std::int64_t stage, std::int64_t stages, std::int64_t microbatches) {
  const auto ahead = std::min(stages - stage - 1, microbatches);
  std::vector<Pass> order;
  for (std::int64_t i = 0; i < ahead; ++i) order.push_back({PassKind::forward, i, 0});
  for (std::int64_t i = 0; i < microbatches; ++i) {
    if (i + ahead < microbatches) order.push_back({PassKind::forward, i + ahead, 0});
    order.push_back({PassKind::backward, i, 0});
    if (i >= stage) order.push_back({PassKind::weights, i - stage, 0});
  }
  for (auto i = std::max<std::int64_t>(0, microbatches - stage); i < microbatches; ++i) {
    order.push_back({PassKind::weights, i, 0});
  }
  return order;
}

/// All passes of one direction: as many microbatches as there are stages go through one part, then through the next.
std::vector<Pass> one_direction(PassKind kind, std::int64_t stages, std::int64_t microbatches, std::int64_t parts) {
  std::vector<Pass> passes;
  for (std::int64_t first = 0; first < microbatches; first += stages) {
    const auto last = std::min(first + stages, microbatches);
    for (std::int64_t part = 0; part < parts; ++part) {
      for (auto i = first; i < last; ++i) {
        passes.push_back({kind, i, kind == PassKind::forward ? part : parts - 1 - part});
      }
    }
  }
  return passes;
}

}  // namespace

std::vector<Pass> pipeline_order(PipelineSchedule schedule, std::int64_t stage, std::int64_t stages,
                                 std::int64_t microbatches, std::int64_t parts) {
  if (schedule == PipelineSchedule::zero_bubble) return zero_bubble_order(stage, stages, microbatches);
  const auto forward = one_direction(PassKind::forward, stages, microbatches, parts);
  const auto backward = one_direction(PassKind::backward, stages, microbatches, parts);
  auto ahead =
      static_cast<std::size_t>(parts == 1 ? stages - stage - 1 : 2 * (stages - stage - 1) + (parts - 1) * stages);
  if (parts > 1 && microbatches == stages) ahead = forward.size();
  ahead = std::min(ahead, forward.size());
  std::vector<Pass> order(forward.begin(), forward.begin() + static_cast<std::ptrdiff_t>(ahead));
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (ahead + i < forward.size()) order.push_back(forward[ahead + i]);
    order.push_back(backward[i]);
  }
  return order;
}

}  // namespace assay::predict
