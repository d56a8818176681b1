#include "assay/model/fitting/family.hpp"

#include <cmath>

#include "assay/model/least_squares.hpp"

namespace assay::model {
namespace {

/// First errors relative to what was measured, then to what the law says: the former pull a law towards the runs that
/// happened to be fast.
constexpr int kWeightings = 3;

Eigen::MatrixXd term_columns(const Law& law, const Table& table) {
  Law units = law;
  for (auto& term : units.terms) term.coefficient = 1;
  const Evaluator evaluator(units, table.factors);
  Eigen::MatrixXd columns(table.rows.size(), law.terms.size());
  for (Eigen::Index i = 0; i < columns.rows(); ++i) {
    for (Eigen::Index k = 0; k < columns.cols(); ++k) {
      columns(i, k) = evaluator.of_term(static_cast<std::size_t>(k), table.rows[static_cast<std::size_t>(i)].values);
    }
  }
  return columns;
}

}  // namespace

Law with_coefficients(Law law, const Table& table) {
  const auto columns = term_columns(law, table);
  Eigen::VectorXd seconds(columns.rows());
  for (Eigen::Index i = 0; i < seconds.size(); ++i) seconds(i) = table.rows[static_cast<std::size_t>(i)].seconds;
  Eigen::VectorXd expected = seconds;
  Eigen::VectorXd found;
  for (int round = 0; round < kWeightings; ++round) {
    const Eigen::VectorXd weights = expected.cwiseInverse();
    found = non_negative_least_squares(weights.asDiagonal() * columns, weights.cwiseProduct(seconds));
    const Eigen::VectorXd said = columns * found;
    if ((said.array() <= 0).any()) break;
    expected = said;
  }
  for (std::size_t k = 0; k < law.terms.size(); ++k) law.terms[k].coefficient = found(static_cast<Eigen::Index>(k));
  return law;
}

Law Family::with_constants(Law law, const std::vector<double>& values) const {
  for (std::size_t k = 0; k < law.terms.size(); ++k) law.terms[k].coefficient = values[k];
  return law;
}

std::vector<FittedConstant> coefficients(const Law& law) {
  std::vector<FittedConstant> found;
  for (std::size_t k = 0; k < law.terms.size(); ++k) {
    const auto& term = law.terms[k];
    found.push_back({term.meaning.empty() ? fmt::format("c{}", k) : term.meaning, term.coefficient, false, ""});
  }
  return found;
}

std::vector<std::size_t> with_role(const Table& table, Role role) {
  std::vector<std::size_t> places;
  for (std::size_t f = 0; f < table.factors.size(); ++f) {
    if (table.factors[f].role == role) places.push_back(f);
  }
  return places;
}

const std::vector<const Family*>& families() {
  static const std::vector<const Family*> all{&generic_family(), &ssgd_family(), &ernest_family(), &terms_family()};
  return all;
}

const Family& family_named(const std::string& name) {
  std::string names;
  for (const auto* family : families()) {
    if (family->name() == name) return *family;
    names += (names.empty() ? "" : ", ") + std::string(family->name());
  }
  fail(ErrorKind::usage, "there is no family {}. Families: {}.", shown(name), names);
}

}  // namespace assay::model
