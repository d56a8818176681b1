// Assay's statistics for tests that hold them against other libraries. Reads one JSON document from stdin: a list of
// questions, each {"f": name, …}; prints the list of answers.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <iterator>

#include "assay/core/text/json.hpp"
#include "assay/stats/change_points/pelt.hpp"
#include "assay/stats/difference.hpp"
#include "assay/stats/interval.hpp"
#include "assay/stats/ranks.hpp"
#include "assay/stats/steady.hpp"

namespace {

using assay::json;
namespace stats = assay::stats;

using Values = std::vector<double>;

json difference_json(const stats::Difference& d) {
  const auto interval = stats::interval_of(d);
  return {{"estimate", d.estimate}, {"p", stats::p_value(d)}, {"degrees", d.degrees},
          {"low", interval.low},    {"high", interval.high},  {"detectable", stats::detectable(d)}};
}

std::vector<stats::Adjusted> adjusted(const json& values, const json& covariates) {
  std::vector<stats::Adjusted> out;
  for (std::size_t i = 0; i < values.size(); ++i) out.push_back({values[i].get<double>(), covariates[i].get<double>()});
  return out;
}

json answer(const json& q) {
  const auto f = q.at("f").get<std::string>();
  if (f == "welch") return difference_json(stats::welch(q.at("a").get<Values>(), q.at("b").get<Values>()).value());
  if (f == "paired") return difference_json(stats::paired(q.at("d").get<Values>()).value());
  if (f == "covariate") {
    return difference_json(
        stats::with_covariate(adjusted(q.at("a"), q.at("xa")), adjusted(q.at("b"), q.at("xb"))).value().difference);
  }
  if (f == "ranks") {
    const auto found = stats::by_ranks(q.at("a").get<Values>(), q.at("b").get<Values>()).value();
    return {{"p", found.p}, {"b_above_a", found.b_above_a}};
  }
  if (f == "holm") return stats::holm(q.at("p").get<Values>());
  if (f == "median_interval") {
    const auto interval = stats::median_interval(q.at("values").get<Values>(), q.at("confidence").get<double>());
    return interval ? json{interval->low, interval->high} : json();
  }
  if (f == "pelt") {
    return stats::segment_starts(
        q.at("values").get<Values>(),
        {q.at("penalty").get<double>(), q.at("least").get<double>(), q.at("shortest").get<std::size_t>()});
  }
  throw std::runtime_error("no function " + f);
}

}  // namespace

int main() {
  try {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    json answers = json::array();
    for (const auto& question : json::parse(text)) answers.push_back(answer(question));
    std::cout << answers.dump() << "\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
