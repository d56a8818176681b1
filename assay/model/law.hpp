#pragma once

#include <string>
#include <vector>

#include "assay/model/tables/table.hpp"

namespace assay::model {

/// How a factor x enters a term.
enum class Shape {
  plain,      ///< x
  logarithm,  ///< log2 x
  others,     ///< x - 1: all but this one, as the other ranks
  share,      ///< (x - 1) / x: what leaves one of x
};

}  // namespace assay::model

template <>
struct assay::EnumNames<assay::model::Shape> {
  static constexpr std::array<const char*, 4> names{"plain", "logarithm", "others", "share"};
};

namespace assay::model {

struct Power {
  std::string factor;
  Shape shape = Shape::plain;  ///< x, log2 x, x - 1, or (x - 1) / x
  double exponent = 1;
};

template <typename V>
void describe(V& v, Power& p) {
  required(v, "factor", p.factor);
  v("shape", p.shape);
  required(v, "exponent", p.exponent);
}

/// A coefficient times powers of factors, in seconds.
struct Term {
  double coefficient = 0;
  std::vector<Power> powers;  ///< none: a constant time
  std::string meaning;        ///< of a term that a physical law brings, such as "latency"; else empty
  std::string level = {};     ///< counts at this level of the law's `by` only; empty: at all
};

template <typename V>
void describe(V& v, Term& t) {
  required(v, "coefficient", t.coefficient);
  v("powers", t.powers);
  v("meaning", t.meaning);
  v("level", t.level);
}

/// The time of a step as a sum of terms. Every family of laws comes to this; they differ in how they find the terms.
struct Law {
  std::string family;
  std::vector<Term> terms;            ///< their sum is the time in seconds
  std::string by = {};                ///< the factor of text whose levels it tells apart; empty: none
  std::vector<std::string> own = {};  ///< constants that each level has for itself; levels share the others
};

template <typename V>
void describe(V& v, Law& l) {
  required(v, "family", l.family);
  required(v, "terms", l.terms);
  v("by", l.by);
  v("own", l.own);
}

/// The law of one level: the terms that count there.
Law law_at(const Law& law, const std::string& level);

/// A value of a factor as a term sees it.
double shaped(Shape shape, double x);

/// Evaluates a law quickly, for values in the order of `factors`.
class Evaluator {
 public:
  Evaluator(const Law& law, const std::vector<Factor>& factors);
  double seconds(const std::vector<double>& values) const;
  double of_term(std::size_t term, const std::vector<double>& values) const;

 private:
  struct Place {
    std::size_t factor;
    Shape shape;
    double exponent;
  };
  struct Compiled {
    double coefficient;
    std::vector<Place> places;
    double level;  ///< of the factor of text; 0: any
  };
  std::vector<Compiled> terms_;
  std::size_t by_ = 0;  ///< place of the factor of text
};

/// "3.1e-05 batch^0.98 threads^-0.71 + 0.0021", for a person. Terms that are zero are left out.
std::string formula(const Law& law);

/// The same of one term, without its coefficient; empty for a constant.
std::string formula_of_powers(const Term& term);

}  // namespace assay::model
