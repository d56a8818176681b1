#include "assay/tune/apply/rescale.hpp"

#include <algorithm>

#include "assay/core/error.hpp"

namespace assay::tune {
namespace {

std::int64_t at_least_one(std::int64_t value) {
  return std::max<std::int64_t>(value, 1);
}

}  // namespace

Settings rescaled(Settings settings, std::int64_t from, std::int64_t to) {
  ASSAY_CHECK(from >= 1 && to >= 1);
  const std::int64_t instances = settings.instances.value_or(1);
  const std::int64_t instances_here = instances == 1 ? 1 : at_least_one(instances * to / from);
  if (settings.instances) settings.instances = instances_here;

  const std::int64_t pools = settings.inter_op.value_or(1);
  // Of one instance, over all its pools; the same share of the cores as before.
  const auto share = [=](std::int64_t count) {
    return at_least_one(instances * pools * count * to / (from * instances_here));
  };
  const auto threads = settings.intra_op ? settings.intra_op : settings.library_threads;
  if (settings.inter_op && threads) settings.inter_op = std::min(pools, share(*threads));
  for (auto* count : {&settings.intra_op, &settings.library_threads}) {
    if (*count) *count = at_least_one(share(**count) / pools);
  }
  return settings;
}

}  // namespace assay::tune
