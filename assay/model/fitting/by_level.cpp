#include "assay/model/fitting/by_level.hpp"

#include <algorithm>
#include <cmath>

#include "assay/model/fitting/levels.hpp"
#include "assay/stats/moments.hpp"

namespace assay::model {
namespace {

constexpr std::size_t kFewestRows = 3;  // of a level
constexpr std::size_t kParts = 10;      // of the points, each held out once
/// Joining a constant has harmed where squares of errors held out grew by this many standard errors of their growth: a
/// law has several constants, and with two errors one in ten laws had one apart that was not.
constexpr double kProof = 2.5;

using Values = LevelProblem::Values;
using Own = std::vector<bool>;

/// By how many standard errors `joined` is worse than `apart` on points held out. Not at all where it costs less than
/// noise in a constant would: a term that is next to nothing in all levels harms each point alike, which a standard
/// error takes for proof.
double harm(const Eigen::VectorXd& apart, const Eigen::VectorXd& joined) {
  const double grown = joined.squaredNorm() - apart.squaredNorm();
  const double noise = apart.squaredNorm() / static_cast<double>(apart.size());
  if (grown > 0 && grown < kProof * kProof * noise) return 0;
  std::vector<double> growth;
  for (Eigen::Index i = 0; i < apart.size(); ++i) growth.push_back(joined(i) * joined(i) - apart(i) * apart(i));
  const double error = std::sqrt(stats::variance(growth).value_or(0) / static_cast<double>(growth.size()));
  return error > 0 ? stats::mean(growth) / error : 0;
}

/// Joins constants one by one, from all apart on.
class Joining {
 public:
  explicit Joining(const LevelProblem& problem)
      : problem_(problem), own_(problem.constants(), true), values_(problem.solved(problem.beginning(), own_)) {}

  void run() {
    while (join_one()) {
    }
  }
  const Own& own() const { return own_; }
  const Values& values() const { return values_; }

 private:
  bool join_one() {
    const auto apart = problem_.held_out_errors(values_, own_, kParts);
    double least = kProof;
    std::optional<std::size_t> best;
    Values of_best;
    for (std::size_t c = 0; c < own_.size(); ++c) {
      if (!own_[c]) continue;
      auto own = own_;
      own[c] = false;
      auto values = problem_.solved(values_, own);
      const double found = harm(apart, problem_.held_out_errors(values, own, kParts));
      if (found >= least) continue;
      least = found;
      best = c;
      of_best = std::move(values);
    }
    if (!best) return false;
    own_[*best] = false;
    values_ = std::move(of_best);
    return true;
  }

  const LevelProblem& problem_;
  Own own_;
  Values values_;
};

/// All rows as if their levels took the same time in the mean: where the form of a law is sought.
Table pooled(const std::vector<Table>& of_levels) {
  Table all{of_levels.front().factors, {}};
  double mean = 0;
  std::vector<double> means;
  for (const auto& table : of_levels) {
    double sum = 0;
    for (const auto& row : table.rows) sum += std::log(row.seconds);
    means.push_back(sum / static_cast<double>(table.rows.size()));
    mean += means.back() / static_cast<double>(of_levels.size());
  }
  for (std::size_t level = 0; level < of_levels.size(); ++level) {
    for (auto row : of_levels[level].rows) {
      row.seconds *= std::exp(mean - means[level]);
      all.rows.push_back(std::move(row));
    }
  }
  return all;
}

bool alike(const Term& a, const Term& b) {
  const auto same = [](const Power& p, const Power& q) { return p.exponent == q.exponent; };
  return a.coefficient == b.coefficient &&
         std::equal(a.powers.begin(), a.powers.end(), b.powers.begin(), b.powers.end(), same);
}

}  // namespace

ByLevel::ByLevel(const Family& family, const Factor& by, double penalty)
    : family_(family), by_(by), penalty_(penalty) {}

std::vector<Table> ByLevel::by_level(const Table& table) const {
  const auto factor = index_of(table.factors, by_.name);
  std::vector<Table> tables;
  for (std::size_t level = 1; level <= by_.names->size(); ++level) {
    tables.push_back(rows_at(table, factor, static_cast<double>(level)));
  }
  return tables;
}

std::optional<std::string> ByLevel::refusal(const Table& table) const {
  const auto tables = by_level(table);
  for (std::size_t level = 0; level < tables.size(); ++level) {
    if (tables[level].rows.size() < kFewestRows) {
      return fmt::format("{} has {} points, and constants of its own need at least {}", (*by_.names)[level],
                         tables[level].rows.size(), kFewestRows);
    }
  }
  return family_.refusal(pooled(tables));
}

Law ByLevel::fit(const Table& table, const Effort& effort) const {
  const auto tables = by_level(table);
  const auto form = family_.fit(pooled(tables), effort);
  const LevelProblem problem(family_, form, tables, penalty_);
  Joining joining(problem);
  joining.run();
  return joined(form, joining.values(), joining.own());
}

Law ByLevel::refit(const Law& law, const Table& table) const {
  Values values;
  for (const auto& level : *by_.names) {
    auto& of_level = values.emplace_back();
    for (const auto& found : family_.constants(law_at(law, level))) of_level.push_back(found.value);
  }
  auto tables = by_level(table);
  const auto form = law_at(law, by_.names->front());
  const LevelProblem problem(family_, form, std::move(tables), penalty_);
  Own own;
  for (const auto& found : problem.found()) {
    own.push_back(std::find(law.own.begin(), law.own.end(), found.name) != law.own.end());
  }
  return joined(form, problem.solved(values, own), own);
}

std::vector<FittedConstant> ByLevel::constants(const Law& law) const {
  std::vector<std::vector<FittedConstant>> of_levels;
  for (const auto& level : *by_.names) of_levels.push_back(family_.constants(law_at(law, level)));
  std::vector<FittedConstant> all;
  for (std::size_t c = 0; c < of_levels.front().size(); ++c) {
    const auto& first = of_levels.front()[c];
    const bool own = std::find(law.own.begin(), law.own.end(), first.name) != law.own.end();
    for (std::size_t level = 0; level < (own ? of_levels.size() : 1); ++level) {
      all.push_back(of_levels[level][c]);
      if (own) all.back().level = (*by_.names)[level];
    }
  }
  return all;
}

Law ByLevel::joined(const Law& form, const Values& values, const Own& own) const {
  std::vector<Law> laws;
  for (const auto& of_level : values) laws.push_back(family_.with_constants(form, of_level));
  Law law{form.family, {}, by_.name, {}};
  for (std::size_t k = 0; k < form.terms.size(); ++k) {
    const auto& first = laws.front().terms[k];
    if (std::all_of(laws.begin(), laws.end(), [&](const Law& one) { return alike(one.terms[k], first); })) {
      law.terms.push_back(first);
      continue;
    }
    for (std::size_t level = 0; level < laws.size(); ++level) {
      law.terms.push_back(laws[level].terms[k]);
      law.terms.back().level = (*by_.names)[level];
    }
  }
  const auto found = family_.constants(form);
  for (std::size_t c = 0; c < found.size(); ++c) {
    if (own[c]) law.own.push_back(found[c].name);
  }
  return law;
}

}  // namespace assay::model
