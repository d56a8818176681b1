// Change points of series, for tests and figures that plant steps and know the truth. Reads one JSON document from
// stdin:
//   {"series": [[times…], …], "least": 0.02}                      as `assay history` judges them
//   {"series": [[values…], …], "least": 0, "p": 0.001, "plain": true}   E-divisive alone, on the values as they are
// and prints a list with {"set_aside": [indexes], "changes": [{"index", "difference", "low", "high", "p"}]} for each.
#include <fmt/format.h>

#include <iostream>
#include <iterator>

#include "assay/compare/history.hpp"

namespace {

using assay::json;
using assay::required;

struct Question {
  std::vector<std::vector<double>> series;
  double least = 0.02;
  double p = assay::stats::ChangeRule{}.p;
  bool plain = false;
};

template <typename V>
void describe(V& v, Question& q) {
  required(v, "series", q.series);
  v("least", q.least);
  v("p", q.p);
  v("plain", q.plain);
}

assay::compare::Levels levels_of(const std::vector<double>& series, const Question& question) {
  if (!question.plain) return assay::compare::levels_of(series, question.least);
  assay::stats::ChangeRule rule;
  rule.least = question.least;
  rule.p = question.p;
  return {std::vector<bool>(series.size(), false), assay::stats::change_points(series, rule)};
}

json answer(const assay::compare::Levels& levels) {
  json out = {{"set_aside", json::array()}, {"changes", json::array()}};
  for (std::size_t i = 0; i < levels.set_aside.size(); ++i) {
    if (levels.set_aside[i]) out["set_aside"].push_back(i);
  }
  for (const auto& change : levels.changes) {
    out["changes"].push_back({{"index", change.index},
                              {"difference", change.difference},
                              {"low", change.difference_interval.low},
                              {"high", change.difference_interval.high},
                              {"p", change.p}});
  }
  return out;
}

}  // namespace

int main() {
  try {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    const auto question = assay::from_json<Question>(assay::parse_json(text, {.bytes = 256u << 20}));
    json out = json::array();
    for (const auto& series : question.series) out.push_back(answer(levels_of(series, question)));
    std::cout << out.dump() << "\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "levels: " << error.what() << "\n";
    return 1;
  }
}
