#include "assay/model/law.hpp"

#include <algorithm>
#include <cmath>

namespace assay::model {
namespace {

std::string text_of(const Power& power) {
  std::string base;
  switch (power.shape) {
    case Shape::plain:
      base = power.factor;
      break;
    case Shape::logarithm:
      base = fmt::format("log2({})", power.factor);
      break;
    case Shape::others:
      base = fmt::format("({0}-1)", power.factor);
      break;
    case Shape::share:
      base = fmt::format("(({0}-1)/{0})", power.factor);
      break;
  }
  return power.exponent == 1 ? base : fmt::format("{}^{:.3g}", base, power.exponent);
}

/// The value that a factor of text has at a level.
double value_of_level(const Factor& factor, const std::string& level) {
  const auto names = factor.names.value_or(std::vector<std::string>());
  const auto found = std::find(names.begin(), names.end(), level);
  if (found == names.end()) fail(ErrorKind::bad_input, "{} has no level {}.", shown(factor.name), shown(level));
  return static_cast<double>(found - names.begin() + 1);
}

}  // namespace

double shaped(Shape shape, double x) {
  switch (shape) {
    case Shape::plain:
      return x;
    case Shape::logarithm:
      return std::log2(x);
    case Shape::others:
      return x - 1;
    case Shape::share:
      return (x - 1) / x;
  }
  return x;
}

Evaluator::Evaluator(const Law& law, const std::vector<Factor>& factors) {
  if (!law.by.empty()) by_ = index_of(factors, law.by);
  for (const auto& term : law.terms) {
    const double level = term.level.empty() ? 0 : value_of_level(factors.at(by_), term.level);
    auto& compiled = terms_.emplace_back(Compiled{term.coefficient, {}, level});
    for (const auto& power : term.powers) {
      compiled.places.push_back({index_of(factors, power.factor), power.shape, power.exponent});
    }
  }
}

double Evaluator::of_term(std::size_t term, const std::vector<double>& values) const {
  const auto& compiled = terms_[term];
  if (compiled.coefficient == 0) return 0;
  if (compiled.level != 0 && values[by_] != compiled.level) return 0;
  double product = compiled.coefficient;
  for (const auto& place : compiled.places) {
    const double x = shaped(place.shape, values[place.factor]);
    product *= place.exponent == 1 ? x : std::pow(x, place.exponent);
  }
  return product;
}

double Evaluator::seconds(const std::vector<double>& values) const {
  double sum = 0;
  for (std::size_t term = 0; term < terms_.size(); ++term) sum += of_term(term, values);
  return sum;
}

Law law_at(const Law& law, const std::string& level) {
  Law one{law.family, {}, "", {}};
  for (const auto& term : law.terms) {
    if (!term.level.empty() && term.level != level) continue;
    one.terms.push_back(term);
    one.terms.back().level.clear();
  }
  return one;
}

std::string formula_of_powers(const Term& term) {
  std::string text;
  for (const auto& power : term.powers) {
    if (power.exponent == 0) continue;
    text += (text.empty() ? "" : " ") + text_of(power);
  }
  return text;
}

std::string formula(const Law& law) {
  std::string text;
  for (const auto& term : law.terms) {
    if (term.coefficient == 0) continue;
    const auto powers = formula_of_powers(term);
    text += fmt::format("{}{:.4g}{}{}", text.empty() ? "" : " + ", term.coefficient, powers.empty() ? "" : " ", powers);
  }
  return text.empty() ? "0" : text;
}

}  // namespace assay::model
