#include "workers/fake/law.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::fake {
namespace {

constexpr double kTrainFactor = 3;
constexpr double kWarmupDecay = 5;
constexpr std::uint64_t kRunCounter = std::uint64_t{1} << 62;  // beyond every step number

/// In (0, 1): 53 bits, never 0, so that its logarithm is finite.
double uniform(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

}  // namespace

double threads_factor(const Law& law, const Settings& settings) {
  const std::int64_t p = settings.intra_op.value_or(1);
  const std::int64_t q = settings.inter_op.value_or(1);
  const std::int64_t useful = std::min(std::min(p, law.intra_most) * std::min(q, law.width), law.cores);
  const auto excess = static_cast<double>(std::max<std::int64_t>(0, p * q - law.cores));
  return law.serial + (1 - law.serial) / static_cast<double>(useful) + law.inter_cost * static_cast<double>(q - 1) +
         law.oversubscription * excess / static_cast<double>(law.cores);
}

double typical_ns(const Law& law, const Workload& workload, const Settings& settings) {
  const double work = law.base_ns + law.per_sample_ns * static_cast<double>(workload.batch);
  const double mode = workload.mode == Mode::train ? kTrainFactor : 1;
  return work * mode * threads_factor(law, settings) * law.scale;
}

double warmup_factor(const Law& law, std::int64_t step) {
  if (step >= law.warmup_steps) return 1;
  return 1 +
         law.warmup_extra * std::exp(-kWarmupDecay * static_cast<double>(step) / static_cast<double>(law.warmup_steps));
}

double noise_factor(const Law& law, const Draw& draw, std::int64_t step) {
  double exponent = 0;
  if (law.noise > 0) exponent += law.noise * normal(draw, static_cast<std::uint64_t>(step));
  if (law.run_noise > 0) exponent += law.run_noise * normal(draw, kRunCounter);
  return std::exp(exponent);
}

double host_factor(const Law& law, std::int64_t now_ns) {
  if (law.slowdown == 0) return 1;
  const auto period_ns = static_cast<std::int64_t>(law.slowdown_period_ms * 1e6);
  return now_ns % period_ns * 2 >= period_ns ? 1 + law.slowdown : 1;
}

std::uint64_t splitmix64(std::uint64_t state) {
  std::uint64_t z = state + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double normal(const Draw& draw, std::uint64_t counter) {
  std::uint64_t stream = splitmix64(static_cast<std::uint64_t>(draw.seed));
  stream = splitmix64(stream ^ static_cast<std::uint64_t>(draw.rank));
  stream = splitmix64(stream ^ static_cast<std::uint64_t>(draw.instance));
  const double u = uniform(splitmix64(stream ^ (2 * counter)));
  const double v = uniform(splitmix64(stream ^ (2 * counter + 1)));
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

void split(std::int64_t total_ns, const std::vector<std::int64_t>& percents, std::vector<std::int64_t>& out) {
  ASSAY_CHECK(out.size() == percents.size());
  std::int64_t left_ns = total_ns;
  for (std::size_t i = 0; i + 1 < percents.size(); ++i) {
    out[i] = total_ns / 100 * percents[i] + total_ns % 100 * percents[i] / 100;  // no overflow
    left_ns -= out[i];
  }
  if (!out.empty()) out.back() = left_ns;
}

void split_rising(std::int64_t total_ns, std::vector<std::int64_t>& out) {
  const auto n = static_cast<std::int64_t>(out.size());
  const std::int64_t weights = n * (n + 1) / 2;
  std::int64_t left_ns = total_ns;
  for (std::int64_t i = 1; i < n; ++i) {
    const std::int64_t part = total_ns / weights * i + total_ns % weights * i / weights;
    out[static_cast<std::size_t>(i - 1)] = part;
    left_ns -= part;
  }
  if (n > 0) out.back() = left_ns;
}

const Phases& phases_of(Mode mode) {
  static const Phases train{{"load", "transfer", "forward", "backward", "update"}, {5, 5, 30, 50, 10}};
  static const Phases infer{{"load", "transfer", "forward"}, {10, 10, 80}};
  return mode == Mode::train ? train : infer;
}

}  // namespace assay::fake
