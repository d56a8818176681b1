#include "bench/programs/planted_law.hpp"

#include <cmath>
#include <random>

namespace assay::bench {
namespace {

constexpr std::size_t kTrain = 300, kBeyond = 60;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform(0, 1))) * std::cos(6.283185307179586 * uniform(0, 1)); }
  double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  std::size_t below(std::size_t n) { return engine_() % n; }

 private:
  std::mt19937_64 engine_;
};

struct Axis {
  model::Factor factor;
  std::vector<double> levels;
};

using Values = std::vector<double>;
using Truth = std::function<double(const Values&)>;

std::vector<double> doubling(double from, int count) {
  std::vector<double> levels;
  for (int i = 0; i < count; ++i) levels.push_back(from * std::pow(2.0, i));
  return levels;
}

/// Points at random over the axes; beyond them, the first axis is at twice and at four times its largest level.
void measure(PlantedLaw& law, const std::vector<Axis>& axes, const Truth& truth, Random& random) {
  const double noise = random.uniform(0.01, 0.03);
  law.scale = axes[0].factor.name;
  for (const auto& axis : axes) {
    law.train.factors.push_back(axis.factor);
    law.beyond.factors.push_back(axis.factor);
  }
  for (std::size_t i = 0; i < kTrain + kBeyond; ++i) {
    Values values;
    for (const auto& axis : axes) values.push_back(axis.levels[random.below(axis.levels.size())]);
    const bool is_beyond = i >= kTrain;
    if (is_beyond) values[0] = axes[0].levels.back() * (i % 2 == 0 ? 2 : 4);
    const double seconds = truth(values) * std::exp(noise * random.normal());
    (is_beyond ? law.beyond : law.train).rows.push_back({values, seconds});
  }
}

using model::Role;

void plant_generic(PlantedLaw& law, Random& random) {
  const double pw = random.uniform(0.6, 2), pd = random.uniform(0.5, 1.5);
  const double qb = random.uniform(0.5, 1), qt = random.uniform(-0.9, -0.3), qr = random.uniform(-0.8, -0.2);
  const double aw = random.uniform(0.5, 2) / std::pow(256, pw), ad = random.uniform(0.5, 2) / std::pow(8, pd);
  const double c = random.uniform(0.3, 1.5);
  law.constants = {{"a_width", aw}, {"a_depth", ad},   {"p_width", pw}, {"p_depth", pd},
                   {"q_batch", qb}, {"q_threads", qt}, {"q_ranks", qr}, {"C", c}};
  const std::vector<Axis> axes{{{"width", Role::intrinsic}, doubling(64, 5)},
                               {{"depth", Role::intrinsic}, doubling(2, 5)},
                               {{"batch", Role::extrinsic}, doubling(1, 6)},
                               {{"threads", Role::parallel}, doubling(1, 4)},
                               {{"ranks", Role::parallel}, doubling(1, 4)}};
  measure(
      law, axes,
      [=](const Values& x) {
        return (aw * std::pow(x[0], pw) + ad * std::pow(x[1], pd)) * std::pow(x[2], qb) * std::pow(x[3], qt) *
                   std::pow(x[4], qr) +
               c;
      },
      random);
}

void plant_ssgd(PlantedLaw& law, Random& random) {
  const double start = random.uniform(1e-3, 3e-3), serial = random.uniform(0.5, 2) * 1e-13;
  const double shared = random.uniform(1, 4) * 1e-12, update = random.uniform(0.5, 2) * 1e-9;
  const double latency = random.uniform(1, 4) * 1e-3, traffic = random.uniform(1, 6) * 1e-9;
  law.constants = {{"start", start},   {"compute", serial},  {"compute shared", shared},
                   {"update", update}, {"latency", latency}, {"traffic", traffic}};
  const std::vector<Axis> axes{{{"ranks", Role::parallel}, doubling(1, 5)},
                               {{"batch", Role::extrinsic}, doubling(1, 6)},
                               {{"flops", Role::intrinsic}, doubling(2.5e8, 5)},
                               {{"parameters", Role::intrinsic}, {1e6, 3e6, 8e6, 2.5e7, 6e7}},
                               {{"threads", Role::parallel}, doubling(1, 4)}};
  measure(
      law, axes,
      [=](const Values& x) {
        const double work = x[1] * x[2];
        return start + serial * work + shared * work / x[4] + update * x[3] + latency * (x[0] - 1) +
               traffic * x[3] * (x[0] - 1) / x[0];
      },
      random);
}

void plant_ernest(PlantedLaw& law, Random& random) {
  const double c0 = random.uniform(1, 5), serial = random.uniform(0.5, 2) * 1e-3, shared = random.uniform(0.5, 2) * 0.2;
  const double tree = random.uniform(0.3, 1.5), each = random.uniform(0.05, 0.3);
  law.constants = {{"c0", c0}, {"c1", serial}, {"c2", shared}, {"c3", tree}, {"c4", each}};
  const std::vector<Axis> axes{{{"machines", Role::parallel}, doubling(1, 6)},
                               {{"size", Role::intrinsic}, doubling(16, 7)}};
  measure(
      law, axes,
      [=](const Values& x) { return c0 + serial * x[1] + shared * x[1] / x[0] + tree * std::log2(x[0]) + each * x[0]; },
      random);
}

void plant_terms(PlantedLaw& law, Random& random) {
  constexpr double exponents[] = {0.5, 2.0 / 3, 0.75, 1, 1.25, 1.5, 2};
  const double i = exponents[random.below(7)], j = exponents[random.below(3)];
  const int logs = static_cast<int>(random.below(2));
  const double c0 = random.uniform(0.5, 2);
  const double work = random.uniform(5, 20) / (std::pow(256, i) * std::pow(std::log2(256), logs));
  const double talk = random.uniform(1, 4) / std::pow(8, j);
  const auto power = [](const char* name, double exponent) {
    return exponent == 1 ? std::string(name) : fmt::format("{}^{:.3g}", name, exponent);
  };
  law.constants = {
      {"c0", c0}, {"p^-1 " + power("n", i) + (logs == 0 ? "" : " log2(n)"), work}, {power("p", j) + " k^0.5", talk}};
  const std::vector<Axis> axes{{{"p", Role::parallel}, doubling(1, 6)},
                               {{"n", Role::intrinsic}, doubling(16, 7)},
                               {{"k", Role::intrinsic}, doubling(1, 5)}};
  measure(
      law, axes,
      [=](const Values& x) {
        return c0 + work * std::pow(x[1], i) * std::pow(std::log2(x[1]), logs) / x[0] +
               talk * std::pow(x[0], j) * std::sqrt(x[2]);
      },
      random);
}

}  // namespace

PlantedLaw plant(const std::string& family, std::uint64_t seed) {
  PlantedLaw law;
  law.family = family;
  Random random(seed);
  if (family == "generic") plant_generic(law, random);
  if (family == "ssgd") plant_ssgd(law, random);
  if (family == "ernest") plant_ernest(law, random);
  if (family == "terms") plant_terms(law, random);
  return law;
}

}  // namespace assay::bench
