#include "assay/predict/serving/stacks/stack_group.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace assay::predict {
namespace {

struct RoomChoice {
  double room;
  double cache;
};

/// Closed loops: how much fits, and in what the cache is kept, is not stated, and the rows choose.
std::vector<RoomChoice> choices_for(ServingMode mode, ProductType weights) {
  if (mode == ServingMode::static_batch) return {{1, 2}};
  if (weights == ProductType::bf16) return {{1, 2}, {0.5, 2}, {2, 2}};
  return {{1, 2}, {0.5, 2}, {2, 2}, {1, 1}, {0.5, 1}, {2, 1}};
}

/// Servers that do one step after the other on the CPUs that also compute: nothing but work passes before a first
/// token, and a constant that counted a wait would say the capacity too high.
bool works_in_turn(const ServingRow& row) {
  return row.stack.server == "llama.cpp" && row.point.mode == ServingMode::closed_loop;
}

void expect_no_waits(StackPrior& prior, StackConstants& group) {
  constexpr PriorSpread kKnown{0.02, 0.02};
  prior.first = kKnown;
  prior.wait = kKnown;
  group.first = 1;
  group.first_each = 1e-3;
  group.wait = 1e-4;
}

}  // namespace

FittedStack fit_group(const ServingRowRefs& rows, const DeviceTimes& times, const StackPrior& prior,
                      const StackConstants* group) {
  const auto mode = rows.front()->point.mode;
  auto expected = prior;
  auto centre = group != nullptr ? *group : prior.guess;
  if (std::all_of(rows.begin(), rows.end(), [](const auto* row) { return works_in_turn(*row); })) {
    expect_no_waits(expected, centre);
  }
  const StackFitter fitter(mode, expected, centre, group == nullptr);
  FittedStack stack;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& choice : choices_for(mode, rows.front()->stack.weights)) {
    const auto ready = prepared(rows, times, choice.room, choice.cache);
    const auto constants = fitter.fit(ready);
    const double cost = fitter.cost(ready, constants);
    if (cost >= least) continue;
    least = cost;
    stack.constants = constants;
    stack.room = choice.room;
    stack.cache_element_bytes = choice.cache;
  }
  stack.rows = static_cast<std::int64_t>(rows.size());
  stack.at_bounds = fitter.at_bounds(stack.constants);
  stack.devices = distinct_names(rows, [](const ServingRow& row) { return row.device; });
  stack.models = distinct_names(rows, [](const ServingRow& row) { return row.point.model.shape.name; });
  for (const auto* row : rows) stack.largest_tensor = std::max(stack.largest_tensor, row->point.model.tensor);
  return stack;
}

ServingResiduals left_out(const ServingRowRefs& rows, const DeviceTimes& times,
                          const std::function<std::string(const ServingRow&)>& fold, const StackPredictor& fit) {
  ServingResiduals all;
  for (const auto& name : distinct_names(rows, fold)) {
    ServingRowRefs kept;
    ServingRowRefs out;
    for (const auto* row : rows) (fold(*row) == name ? out : kept).push_back(row);
    if (kept.empty()) continue;
    ++all.folds;
    const auto stack = fit(kept);
    for (const auto& one : prepared(out, times, stack.room, stack.cache_element_bytes)) all.add(one, stack.constants);
  }
  return all;
}

std::vector<std::string> distinct_names(const ServingRowRefs& rows,
                                        const std::function<std::string(const ServingRow&)>& name) {
  std::set<std::string> names;
  for (const auto* row : rows) names.insert(name(*row));
  return {names.begin(), names.end()};
}

}  // namespace assay::predict
