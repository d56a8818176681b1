#include "assay/predict/layer_sources/kineto_ranks.hpp"

#include <algorithm>
#include <functional>

#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

const RankStep* step_named(const RankSteps& rank, const std::string& name) {
  const auto found =
      std::find_if(rank.steps.begin(), rank.steps.end(), [&](const auto& step) { return step.name == name; });
  return found == rank.steps.end() ? nullptr : &*found;
}

/// A step that all ranks have, by what the slowest of them takes.
struct CommonStep {
  double seconds = 0;
  std::vector<const LayerTable*> tables;  ///< of each rank
};

std::vector<CommonStep> common_steps(const std::vector<RankSteps>& ranks) {
  std::vector<CommonStep> common;
  for (const auto& step : ranks.front().steps) {
    CommonStep one;
    for (const auto& rank : ranks) {
      const auto* own = step_named(rank, step.name);
      if (own == nullptr) break;
      one.seconds = std::max(one.seconds, own->seconds);
      one.tables.push_back(&own->table);
    }
    if (one.tables.size() == ranks.size()) common.push_back(std::move(one));
  }
  return common;
}

CommonStep median_step(const std::vector<RankSteps>& ranks) {
  auto steps = common_steps(ranks);
  if (steps.empty()) {
    const auto& first = ranks.front();
    const auto other = std::find_if(ranks.begin(), ranks.end(), [&](const auto& rank) {
      return std::none_of(rank.steps.begin(), rank.steps.end(),
                          [&](const auto& step) { return step_named(first, step.name) != nullptr; });
    });
    const auto& last = other == ranks.end() ? ranks.back() : *other;
    fail(ErrorKind::usage,
         "{} and {} have no step in common: theirs are {} and {}. Profile the same steps on all ranks.",
         shown_path(first.file.file), shown_path(last.file.file), shown(first.steps.front().name),
         shown(last.steps.front().name));
  }
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return steps[steps.size() / 2];
}

/// Without its number among the operators of its rank.
std::string operator_of(const LayerTime& layer) {
  return layer.name.substr(layer.name.find(' ') + 1);
}

/// Where ranks have other layers than the first: the first difference.
std::string first_difference(const CommonStep& step, const std::vector<RankSteps>& ranks) {
  const auto rank = [&](std::size_t i) { return *ranks[i].file.rank; };
  const auto& first = step.tables.front()->layers;
  for (std::size_t i = 1; i < step.tables.size(); ++i) {
    const auto& other = step.tables[i]->layers;
    for (std::size_t k = 0; k < std::min(first.size(), other.size()); ++k) {
      if (operator_of(first[k]) != operator_of(other[k])) {
        return fmt::format("layer {} is {} on rank {} and {} on rank {}", k + 1, shown(operator_of(first[k]), 40),
                           rank(0), shown(operator_of(other[k]), 40), rank(i));
      }
      if (first[k].gradient_bytes != other[k].gradient_bytes) {
        return fmt::format("layer {}, {}, has other gradients on rank {} than on rank {}", k + 1,
                           shown(operator_of(first[k]), 40), rank(i), rank(0));
      }
    }
    if (first.size() != other.size()) {
      return fmt::format("rank {} has {} layers and rank {} has {}", rank(0), first.size(), rank(i), other.size());
    }
  }
  return "";
}

double median_of(const CommonStep& step, const std::function<double(const LayerTable&)>& value) {
  std::vector<double> values;
  for (const auto* table : step.tables) values.push_back(value(*table));
  return stats::median(values);
}

LayerTable medians_of(const CommonStep& step) {
  auto table = *step.tables.front();
  for (std::size_t i = 0; i < table.layers.size(); ++i) {
    auto& layer = table.layers[i];
    layer.forward_seconds = median_of(step, [&](const auto& one) { return one.layers[i].forward_seconds; });
    layer.backward_seconds = median_of(step, [&](const auto& one) { return one.layers[i].backward_seconds; });
  }
  table.load_seconds = median_of(step, [](const auto& one) { return one.load_seconds; });
  table.transfer_seconds = median_of(step, [](const auto& one) { return one.transfer_seconds; });
  table.update_seconds = median_of(step, [](const auto& one) { return one.update_seconds; });
  return table;
}

double computing_seconds(const LayerTable& table) {
  return table.forward_seconds() + table.backward_seconds() + table.update_seconds;
}

LayerTable table_of_longest(const CommonStep& step) {
  return **std::max_element(step.tables.begin(), step.tables.end(),
                            [](const auto* a, const auto* b) { return computing_seconds(*a) < computing_seconds(*b); });
}

}  // namespace

LayerTable joined_layers(std::vector<RankSteps> ranks) {
  ASSAY_CHECK(!ranks.empty());
  std::vector<FileOfJob> files;
  for (const auto& rank : ranks) files.push_back(rank.file);
  const auto numbers = ranks_of_job(files);
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].file.rank = numbers[i];
  std::sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return *a.file.rank < *b.file.rank; });
  const auto step = median_step(ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i) need_training(*step.tables[i], ranks[i].file.file);
  const auto why_not = first_difference(step, ranks);
  auto table = why_not.empty() ? medians_of(step) : table_of_longest(step);
  table.why_not_joined = why_not;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& own = *step.tables[i];
    table.ranks.push_back({*ranks[i].file.rank, ranks[i].file.file, own.forward_seconds(), own.backward_seconds(),
                           own.update_seconds, own.load_seconds});
  }
  return table;
}

}  // namespace assay::predict
