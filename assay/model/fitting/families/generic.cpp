#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>

#include "assay/model/fitting/evolve.hpp"
#include "assay/model/fitting/family.hpp"
#include "assay/model/fitting/generic_form.hpp"

namespace assay::model {
namespace {

constexpr std::size_t kMostRowsToEvolve = 400;  // a law of a dozen constants is found as well on these
constexpr int kMostSteps = 200;                 // of least squares

/// What Eigen's Levenberg-Marquardt asks of a problem.
struct LeastSquares {
  const GenericForm& form;
  int values() const { return static_cast<int>(form.rows()); }
  int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& out) const {
    form.residuals(x, out);
    return out.allFinite() ? 0 : -1;
  }
  int df(const Eigen::VectorXd& x, Eigen::MatrixXd& out) const {
    form.slopes(x, out);
    return 0;
  }
};

double squares(const GenericForm& form, const Eigen::VectorXd& x) {
  Eigen::VectorXd out;
  form.residuals(x, out);
  return out.squaredNorm();
}

/// The law nearby with the least squares of ln(said / measured). Evolution's penalty has chosen between laws that fit
/// alike; here it no longer pulls at the constants.
Eigen::VectorXd polished(const GenericForm& form, const Eigen::VectorXd& start) {
  if (form.rows() < form.size()) return start;
  LeastSquares problem{form};
  Eigen::LevenbergMarquardt<LeastSquares> search(problem);
  search.parameters.maxfev = kMostSteps;
  Eigen::VectorXd x = start;
  search.minimize(x);
  const bool usable = x.allFinite() && x.segment(0, form.size() - 1).cwiseAbs().maxCoeff() < 60 &&
                      squares(form, x) <= squares(form, start);
  return usable ? x : start;
}

/// Rows evenly through the table, which is in no order that matters.
Table some_rows(const Table& table) {
  if (table.rows.size() <= kMostRowsToEvolve) return table;
  Table some{table.factors, {}};
  for (std::size_t i = 0; i < kMostRowsToEvolve; ++i) {
    some.rows.push_back(table.rows[i * table.rows.size() / kMostRowsToEvolve]);
  }
  return some;
}

class Generic : public Family {
 public:
  const char* name() const override { return "generic"; }
  const char* formula() const override { return "(sum a_i I_i^p_i) (prod E_j^q_j) + C"; }

  std::optional<std::string> refusal(const Table& table) const override {
    if (table.factors.empty()) return "no factor was varied";
    const auto constants = 2 * std::max<std::size_t>(1, with_role(table, Role::intrinsic).size()) +
                           table.factors.size() - with_role(table, Role::intrinsic).size() + 1;
    if (table.rows.size() <= constants) {
      return fmt::format("{} points are too few for its {} constants", table.rows.size(), constants);
    }
    return std::nullopt;
  }

  Law fit(const Table& table, const Effort& effort) const override {
    const auto rows = some_rows(table);
    const GenericForm form(rows);
    const auto cost = [&](const std::vector<double>& x) { return form.cost(x, effort.penalty); };
    const auto best = evolve(cost, form.box(), effort.evaluations, effort.seed);
    Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(best.data(), form.size());
    x(form.size() - 1) = std::log(std::max(1e-6, x(form.size() - 1)));
    const auto law = form.law(polished(form, x));
    return rows.rows.size() == table.rows.size() ? law : refit(law, table);
  }

  Law refit(const Law& law, const Table& table) const override {
    const GenericForm form(table);
    return form.law(polished(form, form.numbers(law)));
  }

  std::vector<FittedConstant> constants(const Law& law) const override {
    std::vector<FittedConstant> found;
    const bool sums = law.terms.size() > 2;
    for (std::size_t i = 0; i + 1 < law.terms.size(); ++i) {
      const auto& term = law.terms[i];
      const auto name = term.powers.empty() ? std::string() : term.powers.front().factor;
      found.push_back({sums ? "a_" + name : "a", term.coefficient, false, ""});
    }
    const auto& first = law.terms.front();
    for (std::size_t i = 0; sums && i + 1 < law.terms.size(); ++i) {
      found.push_back({"p_" + law.terms[i].powers.front().factor, law.terms[i].powers.front().exponent, true, ""});
    }
    for (std::size_t j = sums ? 1 : 0; j < first.powers.size(); ++j) {
      found.push_back({"q_" + first.powers[j].factor, first.powers[j].exponent, true, ""});
    }
    found.push_back({"C", law.terms.back().coefficient, false, ""});
    return found;
  }

  Law with_constants(Law law, const std::vector<double>& values) const override {
    const auto summands = law.terms.size() - 1;
    const bool sums = summands > 1;
    for (std::size_t i = 0; i < summands; ++i) {
      auto& term = law.terms[i];
      term.coefficient = values[i];
      if (sums) term.powers.front().exponent = values[summands + i];
      const auto before = sums ? 2 * summands - 1 : summands;  // so that power j is value before + j
      for (std::size_t j = sums ? 1 : 0; j < term.powers.size(); ++j) term.powers[j].exponent = values[before + j];
    }
    law.terms.back().coefficient = values.back();
    return law;
  }
};

}  // namespace

const Family& generic_family() {
  static const Generic family;
  return family;
}

}  // namespace assay::model
