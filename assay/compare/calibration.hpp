#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/store/store.hpp"

namespace assay::compare {

/// How two sides are told apart.
enum class Method {
  lockstep,   ///< pairs of runs measured in turns; each pair counts once
  covariate,  ///< independent processes, with the speed probe taken off
  welch,      ///< independent processes
  ranks,      ///< the same by the order of their times, of which some are not known but for being the longest
};

}  // namespace assay::compare

namespace assay {

template <>
struct EnumNames<compare::Method> {
  static constexpr std::array<const char*, 4> names{"lockstep", "covariate", "welch", "ranks"};
};

}  // namespace assay

namespace assay::compare {

/// How much the same trial differs from itself on a host, as standard deviations of logarithms.
struct Noise {
  std::int64_t pairs = 0;           ///< that were measured
  double pair = 0;                  ///< of the log-ratio of a pair
  double process = 0;               ///< of the median of a fresh process
  std::optional<double> covariate;  ///< of the same, with the speed probe taken off
};

template <typename V>
void describe(V& v, Noise& n) {
  required(v, "pairs", n.pairs);
  required(v, "pair", n.pair);
  required(v, "process", n.process);
  v("covariate", n.covariate);
}

/// What an A/A experiment taught of a host: kept in a store, one for each platform.
struct Calibration {
  std::string platform;
  std::string trial;  ///< title of what was measured against itself
  Noise noise;
};

template <typename V>
void describe(V& v, Calibration& c) {
  required(v, "platform", c.platform);
  v("trial", c.trial);
  required(v, "noise", c.noise);
}

constexpr const char* kCalibrationKind = "calibration";

/// From the runs of a lock-step campaign whose two trials do the same. Throws Error{failure} with fewer than 6 good
/// pairs.
Noise noise_of(const std::vector<store::RunRow>& rows);

/// The log of a difference that `n` pairs, or processes a side, show by chance alone in 1 of 20 comparisons of the same
/// trial.
double by_chance(const Noise& noise, Method method, double n);

/// The log of the smallest difference that `n` pairs, or processes a side, would find in 4 of 5 cases at p < .01.
double detectable(const Noise& noise, Method method, double n);

/// Whether one of them is of this platform.
bool knows(const std::vector<Calibration>& calibrations, const std::string& platform);

/// The newest calibration of each platform that a store holds.
std::vector<Calibration> calibrations(store::Archive& store);

}  // namespace assay::compare
