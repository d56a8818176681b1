#include "assay/model/fitting/folds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

namespace assay::model {
namespace {

constexpr std::size_t kManyLevels = 12;
constexpr double kLargestShare = 0.8;

Fold split(const Table& points, const std::string& factor, const std::function<bool(const Row&, std::size_t)>& held) {
  Fold fold{factor, {points.factors, {}}, {points.factors, {}}};
  for (std::size_t i = 0; i < points.rows.size(); ++i) {
    (held(points.rows[i], i) ? fold.test : fold.train).rows.push_back(points.rows[i]);
  }
  return fold;
}

bool is_usable(const Fold& fold) {
  if (fold.test.rows.empty() || fold.train.rows.size() < 5) return false;
  for (std::size_t f = 0; f < fold.train.factors.size(); ++f) {
    const auto& names = fold.train.factors[f].names;
    if (levels(fold.train, f).size() < (names ? names->size() : 2)) return false;
  }
  return true;
}

}  // namespace

std::vector<Fold> largest_held_out(const Table& points, const std::vector<Alias>& aliases) {
  std::vector<Fold> folds;
  const auto add = [&](std::size_t factor, double from) {
    auto fold = split(points, points.factors[factor].name,
                      [&](const Row& row, std::size_t) { return row.values[factor] >= from; });
    if (is_usable(fold)) folds.push_back(std::move(fold));
  };
  for (std::size_t f = 0; f < points.factors.size(); ++f) {
    const auto seen = levels(points, f);
    if (points.factors[f].names || seen.size() < 3 || is_alias(aliases, points.factors[f].name)) continue;
    if (seen.size() > kManyLevels) {
      add(f, seen[static_cast<std::size_t>(kLargestShare * static_cast<double>(seen.size()))]);
      continue;
    }
    add(f, seen.back());
    if (seen.size() >= 5) add(f, seen[seen.size() - 2]);
  }
  return folds;
}

std::vector<Fold> random_folds(const Table& points, std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(points.rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  std::vector<std::size_t> fold_of(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) fold_of[order[i]] = i % count;
  std::vector<Fold> folds;
  for (std::size_t k = 0; k < count; ++k) {
    auto fold = split(points, "", [&](const Row&, std::size_t i) { return fold_of[i] == k; });
    if (is_usable(fold)) folds.push_back(std::move(fold));
  }
  return folds;
}

std::vector<Bounds> bounds_of(const Table& table) {
  std::vector<Bounds> bounds;
  for (std::size_t f = 0; f < table.factors.size(); ++f) {
    const auto seen = levels(table, f);
    bounds.push_back({seen.front(), seen.back()});
  }
  return bounds;
}

double doublings_beyond(const std::vector<Bounds>& seen, const std::vector<double>& values) {
  double most = 0;
  for (std::size_t f = 0; f < seen.size(); ++f) {
    most = std::max({most, std::log2(values[f] / seen[f].high), std::log2(seen[f].low / values[f])});
  }
  return most;
}

}  // namespace assay::model
