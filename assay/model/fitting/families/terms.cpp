#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "assay/model/fitting/family.hpp"
#include "assay/model/least_squares.hpp"

namespace assay::model {
namespace {

constexpr std::array kExponents{-2.0, -1.5,    -1.0, -0.75, -2.0 / 3, -0.5,    -1.0 / 3, -0.25, 0.0, 0.25, 1.0 / 3,
                                0.5,  2.0 / 3, 0.75, 1.0,   1.25,     4.0 / 3, 1.5,      2.0,   2.5, 3.0};
constexpr int kMostLogs = 2;
constexpr int kMostTerms = 3;  // besides the constant
constexpr std::size_t kMostRowsToSearch = 300;
constexpr int kStarts = 8;
constexpr int kMostSweeps = 12;

/// x^exponent log2(x)^logs of one factor.
struct Form {
  double exponent = 0;
  int logs = 0;
  bool is_one() const { return exponent == 0 && logs == 0; }
};

/// Index of a form for each factor: one term.
using Forms = std::vector<std::size_t>;

/// FormColumns of every form of every factor over the rows, relative to the time of the row.
class FormColumns {
 public:
  explicit FormColumns(const Table& table) : rows_(static_cast<Eigen::Index>(table.rows.size())), inverse_(rows_) {
    for (Eigen::Index i = 0; i < rows_; ++i) inverse_(i) = 1 / table.rows[static_cast<std::size_t>(i)].seconds;
    for (std::size_t f = 0; f < table.factors.size(); ++f) add_factor(table, f);
  }

  std::size_t factors() const { return forms_.size(); }
  const std::vector<Form>& forms(std::size_t factor) const { return forms_[factor]; }
  std::size_t one(std::size_t factor) const { return one_[factor]; }
  Eigen::Index rows() const { return rows_; }

  /// The column of a term, leaving out one factor (or none: kNone).
  Eigen::ArrayXd of_term(const Forms& term, std::size_t without) const {
    Eigen::ArrayXd product = inverse_;
    for (std::size_t f = 0; f < term.size(); ++f) {
      if (f != without && term[f] != one_[f]) product *= columns_[f][term[f]];
    }
    return product;
  }
  const Eigen::ArrayXd& of_form(std::size_t factor, std::size_t form) const { return columns_[factor][form]; }
  const Eigen::ArrayXd& constant() const { return inverse_; }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

 private:
  void add_factor(const Table& table, std::size_t factor) {
    Eigen::ArrayXd x(rows_);
    for (Eigen::Index i = 0; i < rows_; ++i) x(i) = table.rows[static_cast<std::size_t>(i)].values[factor];
    auto& forms = forms_.emplace_back();
    auto& columns = columns_.emplace_back();
    const int most_logs = x.minCoeff() >= 1 ? kMostLogs : 0;  // a logarithm below one is negative
    for (const double exponent : kExponents) {
      for (int logs = 0; logs <= most_logs; ++logs) {
        const Form form{exponent, logs};
        if (form.is_one()) one_.push_back(forms.size());
        forms.push_back(form);
        const Eigen::ArrayXd log2 = x.log() / std::log(2.0);
        Eigen::ArrayXd column = x.pow(exponent);
        for (int i = 0; i < logs; ++i) column *= log2;
        columns.push_back(std::move(column));
      }
    }
  }

  Eigen::Index rows_;
  Eigen::ArrayXd inverse_;
  std::vector<std::vector<Form>> forms_;
  std::vector<std::vector<Eigen::ArrayXd>> columns_;
  std::vector<std::size_t> one_;
};

/// Looks for the forms of a few terms, one factor of one term at a time, from several beginnings.
class TermSearch {
 public:
  TermSearch(const FormColumns& columns, std::uint64_t seed) : columns_(columns), random_(seed) {}

  std::vector<Forms> best() {
    std::vector<Forms> best;
    double least = score(best, error(best));
    for (int count = 1; count <= kMostTerms; ++count) {
      auto [terms, found] = best_of_one_more(best);
      const double of_it = score(terms, found);
      if (of_it >= least) break;
      least = of_it;
      best = std::move(terms);
    }
    return best;
  }

 private:
  std::pair<std::vector<Forms>, double> best_of_one_more(const std::vector<Forms>& known) {
    std::vector<Forms> best;
    double least = 0;
    for (int start = 0; start < kStarts; ++start) {
      auto terms = known;
      terms.push_back(beginning(start));
      const double found = descend(terms);
      if (best.empty() || found < least) {
        best = std::move(terms);
        least = found;
      }
    }
    return {best, least};
  }

  /// Factor by factor linear alone, then at random.
  Forms beginning(int start) {
    Forms term;
    for (std::size_t f = 0; f < columns_.factors(); ++f) term.push_back(columns_.one(f));
    const auto alone = static_cast<std::size_t>(start);
    for (std::size_t f = 0; f < columns_.factors(); ++f) {
      const bool at_random = alone >= columns_.factors();
      if (at_random || f == alone) term[f] = random_() % columns_.forms(f).size();
    }
    return term;
  }

  double descend(std::vector<Forms>& terms) {
    double least = error(terms);
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      const double before = least;
      for (std::size_t k = 0; k < terms.size(); ++k) {
        for (std::size_t f = 0; f < columns_.factors(); ++f) least = improve(terms, k, f, least);
      }
      if (least > before * (1 - 1e-6)) break;
    }
    return least;
  }

  double improve(std::vector<Forms>& terms, std::size_t term, std::size_t factor, double least) {
    auto columns = matrix(terms);
    const auto rest = columns_.of_term(terms[term], factor);
    for (std::size_t form = 0; form < columns_.forms(factor).size(); ++form) {
      columns.col(static_cast<Eigen::Index>(term) + 1) = rest * columns_.of_form(factor, form);
      const double found = error(columns);
      if (found < least * (1 - 1e-9)) {
        least = found;
        terms[term][factor] = form;
      }
    }
    return least;
  }

  Eigen::MatrixXd matrix(const std::vector<Forms>& terms) const {
    Eigen::MatrixXd columns(columns_.rows(), static_cast<Eigen::Index>(terms.size()) + 1);
    columns.col(0) = columns_.constant();
    for (std::size_t k = 0; k < terms.size(); ++k) {
      columns.col(static_cast<Eigen::Index>(k) + 1) = columns_.of_term(terms[k], FormColumns::kNone);
    }
    return columns;
  }

  double error(const std::vector<Forms>& terms) const { return error(matrix(terms)); }

  double error(const Eigen::MatrixXd& columns) const {
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(columns.rows());
    return (columns * non_negative_least_squares(columns, ones) - ones).squaredNorm();
  }

  /// The criterion of Schwarz: a term pays for its coefficient and for each factor in it.
  double score(const std::vector<Forms>& terms, double squares) const {
    double constants = 1;
    for (const auto& term : terms) {
      constants += 1;
      for (std::size_t f = 0; f < term.size(); ++f) constants += term[f] == columns_.one(f) ? 0 : 1;
    }
    const auto n = static_cast<double>(columns_.rows());
    return n * std::log(std::max(squares, 1e-12) / n) + constants * std::log(n);
  }

  const FormColumns& columns_;
  std::mt19937_64 random_;
};

/// In the manner of Extra-P: a constant and up to three products of simple powers and logarithms, chosen by search.
/// Exponents may be negative, for what shortens a time.
class Terms : public Family {
 public:
  const char* name() const override { return "terms"; }
  const char* formula() const override { return "c0 + sum_k c_k prod_j x_j^i log2(x_j)^l, simple i and l"; }

  std::optional<std::string> refusal(const Table& table) const override {
    if (table.factors.empty()) return "no factor was varied";
    if (table.rows.size() < 5) return fmt::format("{} points are too few to choose terms by", table.rows.size());
    return std::nullopt;
  }

  Law fit(const Table& table, const Effort& effort) const override {
    Table some{table.factors, {}};
    const auto count = std::min(table.rows.size(), kMostRowsToSearch);
    for (std::size_t i = 0; i < count; ++i) some.rows.push_back(table.rows[i * table.rows.size() / count]);
    const FormColumns columns(some);
    Law law{"terms", {Term{}}};
    for (const auto& forms : TermSearch(columns, effort.seed).best()) {
      law.terms.push_back(term_of(forms, columns, table.factors));
    }
    return with_coefficients(law, table);
  }

  Law refit(const Law& law, const Table& table) const override { return with_coefficients(law, table); }
  std::vector<FittedConstant> constants(const Law& law) const override { return coefficients(law); }

 private:
  static Term term_of(const Forms& forms, const FormColumns& columns, const std::vector<Factor>& factors) {
    Term term;
    for (std::size_t f = 0; f < forms.size(); ++f) {
      const auto& form = columns.forms(f)[forms[f]];
      if (form.exponent != 0) term.powers.push_back({factors[f].name, Shape::plain, form.exponent});
      if (form.logs != 0) term.powers.push_back({factors[f].name, Shape::logarithm, double(form.logs)});
    }
    return term;
  }
};

}  // namespace

const Family& terms_family() {
  static const Terms family;
  return family;
}

}  // namespace assay::model
