#include "assay/predict/serving/request_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::predict {
namespace {

// Lengths have a generator of their own: arrivals are the same whatever lengths are drawn.
constexpr std::uint64_t kLengthSeed = 0x9e3779b97f4a7c15;

/// Of mean 0 and deviation 1, by Box and Muller.
double drawn_normal(std::mt19937_64& random) {
  const double radius = std::sqrt(-2 * std::log(drawn_share(random)));
  return radius * std::cos(2 * std::numbers::pi * drawn_share(random));
}

std::int64_t drawn_tokens(const LengthSpread& spread, std::int64_t mean, std::mt19937_64& random) {
  double factor = 1;
  if (spread.kind == LengthKind::uniform) factor = 1 + spread.width * (2 * drawn_share(random) - 1);
  if (spread.kind == LengthKind::lognormal) {
    factor = std::exp(spread.width * drawn_normal(random) - spread.width * spread.width / 2);  // its mean is 1
  }
  return std::max<std::int64_t>(1, std::llround(factor * static_cast<double>(mean)));
}

}  // namespace

double drawn_share(std::mt19937_64& random) {
  constexpr double kBits = 9007199254740992.0;
  return (static_cast<double>(random() >> 11) + 1) / kBits;
}

std::vector<RequestLength> drawn_lengths(const LengthSpread& spread, const RequestLength& mean, std::int64_t count,
                                         std::uint64_t seed) {
  std::vector<RequestLength> drawn(static_cast<std::size_t>(count), mean);
  if (spread.kind == LengthKind::alike) return drawn;
  std::mt19937_64 random(seed ^ kLengthSeed);
  for (auto& one : drawn) {
    if (spread.kind == LengthKind::listed) {
      const auto place = drawn_share(random) * static_cast<double>(spread.listed.size());
      one = spread.listed[static_cast<std::size_t>(std::ceil(place)) - 1];
    } else {
      one.prompt_tokens = drawn_tokens(spread, mean.prompt_tokens, random);
      one.output_tokens = drawn_tokens(spread, mean.output_tokens, random);
    }
  }
  return drawn;
}

RequestLength mean_length(const std::vector<RequestLength>& listed) {
  double prompts = 0;
  double outputs = 0;
  for (const auto& one : listed) {
    prompts += static_cast<double>(one.prompt_tokens);
    outputs += static_cast<double>(one.output_tokens);
  }
  const auto count = static_cast<double>(listed.size());
  return {std::max<std::int64_t>(1, std::llround(prompts / count)),
          std::max<std::int64_t>(1, std::llround(outputs / count))};
}

}  // namespace assay::predict
