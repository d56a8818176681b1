#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::predict {

/// How requests differ in length.
enum class LengthKind { alike, uniform, lognormal, listed };

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::LengthKind> {
  static constexpr std::array<const char*, 4> names{"alike", "uniform", "lognormal", "listed"};
};

namespace assay::predict {

/// Tokens of one request.
struct RequestLength {
  std::int64_t prompt_tokens = 1;
  std::int64_t output_tokens = 1;
};

/// What lengths are drawn from. The means are those of the load.
struct LengthSpread {
  LengthKind kind = LengthKind::alike;
  double width = 0;  ///< uniform: the farthest from the mean, as a share of it; lognormal: deviation of the logarithm
  std::vector<RequestLength> listed = {};  ///< each is drawn as often
};

/// A number above 0 and up to 1, by the generator's own bits: the same on every machine.
double drawn_share(std::mt19937_64& random);

/// Lengths of so many requests, at least one token each. Prompts and answers are drawn apart; a listed pair stays
/// together. The same seed gives the same, and more requests begin with those of fewer.
std::vector<RequestLength> drawn_lengths(const LengthSpread& spread, const RequestLength& mean, std::int64_t count,
                                         std::uint64_t seed);

/// Means of a list, to the next whole token. Precondition: it is not empty.
RequestLength mean_length(const std::vector<RequestLength>& listed);

}  // namespace assay::predict
