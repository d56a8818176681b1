#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/model/tables/table.hpp"

namespace assay::model {

/// A table in two: what is fitted to, and what is held out.
struct Fold {
  std::string factor;  ///< whose largest levels are held out
  Table train;
  Table test;
};

/// For each factor of three or more levels one fold without its largest, and with five or more another without its two
/// largest; of many levels the upper fifth counts as the largest. No fold leaves a factor at one level, or without a
/// level of text. Aliases have the folds of what they go with.
std::vector<Fold> largest_held_out(const Table& points, const std::vector<Alias>& aliases = {});

/// `count` folds of points at random, each held out once.
std::vector<Fold> random_folds(const Table& points, std::size_t count, std::uint64_t seed);

/// The least and the largest of a factor.
struct Bounds {
  double low = 0;
  double high = 0;
};

std::vector<Bounds> bounds_of(const Table& table);

/// How many doublings a point lies beyond what was seen, of the factor that is furthest out.
double doublings_beyond(const std::vector<Bounds>& seen, const std::vector<double>& values);

}  // namespace assay::model
