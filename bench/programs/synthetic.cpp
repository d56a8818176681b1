// Intervals and verdicts on campaigns whose truth is known: how often is each wrong? Prints one JSON document.
//   synthetic CAMPAIGNS
#include <cmath>
#include <iostream>
#include <random>
#include <string>

#include "assay/core/text/json.hpp"
#include "assay/stats/difference.hpp"
#include "assay/stats/interval.hpp"
#include "assay/stats/quantile.hpp"

namespace {

using assay::json;
namespace stats = assay::stats;

/// How processes of one trial differ, as standard deviations of logarithms.
struct Noise {
  double between = 0.015;
  double within = 0.03;
  double memory = 0.5;      ///< of neighbouring samples: AR(1)
  double outliers = 0;      ///< share of samples
  bool logarithmic = true;  ///< else the noise is added and not multiplied
};

class Host {
 public:
  explicit Host(std::uint64_t seed) : random_(seed) {}

  double normal() { return normal_(random_); }

  /// Samples of one fresh process around `truth`.
  std::vector<double> process(double truth, const Noise& noise, std::size_t samples) {
    const double own = noise.between * normal();
    std::vector<double> out;
    double state = normal();
    for (std::size_t i = 0; i < samples; ++i) {
      if (i > 0) state = noise.memory * state + std::sqrt(1 - noise.memory * noise.memory) * normal();
      const double deviation = own + noise.within * state;
      double sample = truth * (noise.logarithmic ? std::exp(deviation) : 1 + deviation);
      if (uniform_(random_) < noise.outliers) sample *= 1.5 + 2 * uniform_(random_);
      out.push_back(sample);
    }
    return out;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

constexpr double kTruth = 1e6;
constexpr std::size_t kSamples = 100;

/// Share of campaigns whose interval holds the true median of process medians.
double coverage(Host& host, const Noise& noise, int campaigns, std::size_t runs, double truth) {
  int held = 0;
  for (int c = 0; c < campaigns; ++c) {
    std::vector<double> medians;
    for (std::size_t r = 0; r < runs; ++r) medians.push_back(stats::median(host.process(kTruth, noise, kSamples)));
    const auto interval = stats::median_interval(medians).value();
    held += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  return static_cast<double>(held) / campaigns;
}

/// The median of process medians where it has no closed form: of many processes.
double true_median(Host& host, const Noise& noise) {
  std::vector<double> medians;
  for (int i = 0; i < 40'000; ++i) medians.push_back(stats::median(host.process(kTruth, noise, kSamples)));
  return stats::median(std::move(medians));
}

/// How often two sides are told apart, by process medians and by all samples in one pot.
struct Alarms {
  double p05 = 0;
  double p01 = 0;
  double verdicts = 0;  ///< p < .01 and more than 1 %
  double pooled_p05 = 0;
  double pooled_p01 = 0;
};

Alarms alarms(Host& host, double ratio, int pairs, std::size_t processes) {
  const Noise noise;
  Alarms out;
  for (int pair = 0; pair < pairs; ++pair) {
    std::vector<double> medians[2];
    std::vector<double> pooled[2];
    for (int side = 0; side < 2; ++side) {
      for (std::size_t p = 0; p < processes; ++p) {
        const auto samples = host.process(side == 0 ? kTruth : kTruth * ratio, noise, kSamples);
        medians[side].push_back(std::log(stats::median(samples)));
        for (const double sample : samples) pooled[side].push_back(std::log(sample));
      }
    }
    const auto difference = stats::welch(medians[0], medians[1]).value();
    const double p = stats::p_value(difference);
    const double p_pooled = stats::p_value(stats::welch(pooled[0], pooled[1]).value());
    out.p05 += p < 0.05;
    out.p01 += p < 0.01;
    out.verdicts += p < 0.01 && std::fabs(std::expm1(difference.estimate)) > 0.01;
    out.pooled_p05 += p_pooled < 0.05;
    out.pooled_p01 += p_pooled < 0.01;
  }
  for (double* share : {&out.p05, &out.p01, &out.verdicts, &out.pooled_p05, &out.pooled_p01}) *share /= pairs;
  return out;
}

json alarms_json(const Alarms& a) {
  return {{"p05", a.p05},
          {"p01", a.p01},
          {"verdicts", a.verdicts},
          {"pooled_p05", a.pooled_p05},
          {"pooled_p01", a.pooled_p01}};
}

}  // namespace

int main(int argc, char** argv) {
  const int campaigns = argc > 1 ? std::stoi(argv[1]) : 1000;
  Host host(20261115);
  json out = {{"campaigns", campaigns}, {"coverage", json::object()}};
  const std::vector<std::pair<const char*, Noise>> shapes{{"normal", {0.015, 0.03, 0, 0, false}},
                                                          {"log-normal", {0.15, 0.3, 0, 0, true}},
                                                          {"AR(.5) inside processes", {}},
                                                          {"outliers", {0.015, 0.03, 0.5, 0.05, true}}};
  for (const auto& [name, noise] : shapes) {
    out["coverage"][name] = coverage(host, noise, campaigns, 10, true_median(host, noise));
  }
  out["same"] = alarms_json(alarms(host, 1, campaigns, 10));
  out["shift"] = json::object();
  for (const auto& [percent, ratio] :
       std::vector<std::pair<const char*, double>>{{"2", 1.02}, {"3", 1.03}, {"5", 1.05}}) {
    out["shift"][percent] = alarms_json(alarms(host, ratio, campaigns, 10));
  }
  std::cout << out.dump() << "\n";
  return 0;
}
