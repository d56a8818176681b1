#include "assay/model/fitting/explain.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/units.hpp"

namespace assay::model {
namespace {

std::string name_of_term(const Term& term) {
  const auto powers = formula_of_powers(term);
  if (!term.meaning.empty()) return powers.empty() ? term.meaning : fmt::format("{} ({})", term.meaning, powers);
  return powers.empty() ? "the constant" : powers;
}

std::string values_text(const std::vector<Factor>& factors, const std::vector<double>& values) {
  std::string text;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const auto& names = factors[f].names;
    const auto value = names ? (*names)[static_cast<std::size_t>(values[f]) - 1] : fmt::format("{:g}", values[f]);
    text += fmt::format("{}{}={}", f == 0 ? "" : ", ", factors[f].name, value);
  }
  return text;
}

/// "doubling batch takes 1.9 times as long".
std::string sentence_of_exponent(const std::string& factor, double exponent, bool constant_aside) {
  const double times = std::pow(2.0, exponent);
  if (std::abs(exponent) < 0.02) return fmt::format("{} hardly matters", factor);
  return fmt::format("doubling {} takes {:.3g} times as long{}", factor, times,
                     constant_aside ? ", the constant aside" : "");
}

/// Share of a term at each point, as its least and its most. `laws` has one for each level, or one for all.
std::string sentence_of_term(const std::vector<Law>& laws, std::size_t term, const std::string& level,
                             const Table& points) {
  const auto* by = factor_of_text(points.factors);
  double least = 1;
  double most = 0;
  for (std::size_t k = 0; k < laws.size(); ++k) {
    if (by != nullptr && !level.empty() && (*by->names)[k] != level) continue;
    const Evaluator evaluator(laws[k], points.factors);
    for (const auto& row : points.rows) {
      if (by != nullptr && row.values[index_of(points.factors, by->name)] != static_cast<double>(k + 1)) continue;
      const double share = evaluator.of_term(term, row.values) / evaluator.seconds(row.values);
      least = std::min(least, share);
      most = std::max(most, share);
    }
  }
  const auto name = name_of_term(laws.front().terms[term]);
  if (most < 0.005) return fmt::format("{}: nothing of it is seen", name);
  return fmt::format("{}: {:.0f} to {:.0f} % of the time", name, 100 * least, 100 * most);
}

void put_sentences(Model& model, const Table& points) {
  std::vector<Law> laws;
  const auto* by = factor_of_text(points.factors);
  if (by == nullptr) laws.push_back(model.law);
  for (std::size_t k = 0; by != nullptr && k < by->names->size(); ++k) {
    laws.push_back(law_at(model.law, (*by->names)[k]));
  }
  std::size_t term = 0;
  std::string before;
  for (auto& constant : model.constants) {
    const bool again = constant.name == before;  // of another level
    before = constant.name;
    const bool is_exponent =
        model.family == "generic" && (constant.name.starts_with("p_") || constant.name.starts_with("q_"));
    if (is_exponent) {
      constant.sentence = sentence_of_exponent(constant.name.substr(2), constant.value, true);
    } else {
      if (again) --term;
      const auto at = constant.name == "C" ? laws.front().terms.size() - 1 : term++;
      constant.sentence = sentence_of_term(laws, at, constant.level, points);
    }
  }
}

void note_dominance(Model& model, const Row& row, const char* which, const std::vector<Factor>& factors) {
  const Evaluator evaluator(model.law, factors);
  std::size_t largest = 0;
  for (std::size_t term = 1; term < model.law.terms.size(); ++term) {
    if (evaluator.of_term(term, row.values) > evaluator.of_term(largest, row.values)) largest = term;
  }
  const double share = evaluator.of_term(largest, row.values) / evaluator.seconds(row.values);
  model.notes.push_back(fmt::format("At the {} point ({}) {} is {:.0f} % of the time.", which,
                                    values_text(factors, row.values), name_of_term(model.law.terms[largest]),
                                    100 * share));
}

}  // namespace

void explain(Model& model, const Table& points) {
  put_sentences(model, points);
  const auto by_time = [](const Row& a, const Row& b) { return a.seconds < b.seconds; };
  const auto [least, most] = std::minmax_element(points.rows.begin(), points.rows.end(), by_time);
  note_dominance(model, *least, "fastest", points.factors);
  note_dominance(model, *most, "slowest", points.factors);
  for (const auto& fixed : model.fixed) {
    model.notes.push_back(
        fmt::format("{} was {:g} throughout: nothing is known of another value.", fixed.factor, fixed.value));
  }
}

}  // namespace assay::model
