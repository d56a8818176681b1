// The Gaussian process behind JSON, for an oracle: reads hyperparameters, observations and points on stdin, prints
// means, covariances and the prediction of each observation from the others.
#include <iostream>
#include <iterator>

#include "assay/core/text/json.hpp"
#include "assay/tune/search/gaussian_process.hpp"

int main() {
  using assay::json;
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const auto asked = assay::parse_json(text);
  assay::tune::Hyperparameters hyperparameters;
  hyperparameters.lengths = asked.at("lengths").get<std::vector<double>>();
  hyperparameters.scale = asked.at("scale").get<double>();
  hyperparameters.slope = asked.at("slope").get<double>();
  hyperparameters.noise = asked.at("noise").get<double>();
  std::vector<assay::tune::Observation> observations;
  for (const auto& one : asked.at("observations")) {
    observations.push_back({one.at(0).get<std::vector<double>>(), one.at(1).get<double>(), one.at(2).get<double>()});
  }
  const auto points = asked.at("points").get<std::vector<std::vector<double>>>();
  const assay::tune::GaussianProcess process(hyperparameters, observations,
                                             asked.at("doubt").get<std::vector<double>>());
  json out = {{"mean", json::array()}, {"variance", json::array()}, {"covariance", process.covariance(points)}};
  for (const auto& prediction : process.predict(points)) {
    out["mean"].push_back(prediction.mean);
    out["variance"].push_back(prediction.variance);
  }
  std::cout << out.dump() << "\n";
  return 0;
}
