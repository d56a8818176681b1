#include "assay/model/fitting/fit.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <random>

#include "assay/core/clock.hpp"
#include "assay/model/fitting/by_level.hpp"
#include "assay/model/fitting/explain.hpp"
#include "assay/model/fitting/family.hpp"
#include "assay/model/fitting/folds.hpp"
#include "assay/model/fitting/parallel.hpp"
#include "assay/stats/moments.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::model {
namespace {

constexpr std::int64_t kFoldShare = 4;  // a fold gets this part of the evaluations
constexpr std::size_t kConformalFolds = 5;
constexpr std::size_t kDrawsKept = 40;  // enough to tell how far a prediction spreads
constexpr double kRivalErrors = 1.25;   // families within this of the best are rivals
constexpr std::size_t kMostDrawnPoints = 2000;
/// With fewer points than this for each constant, what is held out says little: a fold may leave a law whose form is
/// known beforehand without what tells its terms apart, and one that is found by search may be right by luck. So the
/// known form is chosen unless it is this much worse.
constexpr std::size_t kFewPoints = 4;
constexpr double kFormIsWorse = 2;

/// A family and the laws it found: of all points, and of each fold without what is held out.
struct Fitted {
  const Family* family = nullptr;
  std::optional<std::string> refused;
  Law law;
  std::vector<Law> of_folds;
  double error_held_out = 0;
};

std::vector<double> log_errors(const Law& law, const Table& table) {
  const Evaluator evaluator(law, table.factors);
  std::vector<double> errors;
  for (const auto& row : table.rows) {
    const double said = evaluator.seconds(row.values);
    errors.push_back(said > 0 && std::isfinite(said) ? std::abs(std::log(said / row.seconds)) : 10);
  }
  return errors;
}

double typical(const std::vector<double>& errors) {
  return std::exp(stats::mean(errors)) - 1;
}

/// The quantile that split-conformal intervals take: of n residuals, number ceil((n + 1) confidence).
double conformal_quantile(std::vector<double> residuals, double confidence) {
  if (residuals.empty()) return 0;
  std::sort(residuals.begin(), residuals.end());
  const auto n = residuals.size();
  const auto number = static_cast<std::size_t>(std::ceil(static_cast<double>(n + 1) * confidence));
  return residuals[std::min(number, n) - 1];
}

class Fitting {
 public:
  Fitting(const FitRequest& request, const FitProgress& progress) : request_(request), progress_(progress) {
    std::vector<std::pair<std::string, double>> fixed;
    table_ = without_fixed(request.table, fixed);
    for (const auto& [name, value] : fixed) model_.fixed.push_back({name, value});
    aliases_ = aliases_in(table_);
    points_ = medians_of(table_);
    find_families();
    folds_ = largest_held_out(points_, aliases_);
    by_scale_ = !folds_.empty();
    if (!by_scale_) folds_ = random_folds(points_, kConformalFolds, seed(0));
  }

  Model run() {
    fit_families();
    choose();
    describe_data();
    find_uncertainty();
    explain(model_, points_);
    return std::move(model_);
  }

 private:
  std::uint64_t seed(std::uint64_t use) const { return static_cast<std::uint64_t>(request_.seed) * 1000 + use; }
  std::size_t threads() const { return static_cast<std::size_t>(request_.threads); }

  /// Factors that a family can make something of.
  Table for_family(const Family& family, const Table& table) const {
    return family.knows_names() ? table : without_aliases(table, aliases_);
  }

  /// Each as it is or, where a factor is text, with constants of its levels.
  void find_families() {
    const auto* by = factor_of_text(points_.factors);
    for (const auto* family : families()) {
      if (by == nullptr) {
        families_.push_back(family);
        continue;
      }
      by_level_.push_back(std::make_unique<ByLevel>(*family, *by, request_.penalty));
      families_.push_back(by_level_.back().get());
    }
  }

  void fit_families() {
    for (const auto* family : families_) {
      const auto& wanted = request_.families;
      if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), family->name()) == wanted.end()) continue;
      fitted_.push_back({family, family->refusal(for_family(*family, points_)), {}, {}, 0});
      for (const auto& fold : folds_) {
        if (const auto why = family->refusal(for_family(*family, fold.train)); why && !fitted_.back().refused) {
          fitted_.back().refused = *why + fmt::format(", once the largest {} is held out", fold.factor);
        }
      }
      fitted_.back().of_folds.resize(folds_.size());
    }
    const auto of_each = folds_.size() + 1;
    const auto count = fitted_.size() * of_each;
    std::size_t done = 0;
    std::mutex mutex;
    for_each_index(count, threads(), [&](std::size_t i) {
      fit_one(fitted_[i / of_each], i % of_each);
      const std::scoped_lock lock(mutex);
      progress_(++done, count);
    });
  }

  void fit_one(Fitted& fitted, std::size_t part) {
    if (fitted.refused) return;
    Effort effort{request_.evaluations, request_.penalty, seed(1)};
    if (part == 0) {
      fitted.law = fitted.family->fit(for_family(*fitted.family, points_), effort);
      return;
    }
    effort.evaluations /= kFoldShare;
    fitted.of_folds[part - 1] = fitted.family->fit(for_family(*fitted.family, folds_[part - 1].train), effort);
  }

  void choose() {
    for (auto& fitted : fitted_) {
      auto& candidate = model_.candidates.emplace_back();
      candidate.family = fitted.family->name();
      candidate.refused = fitted.refused;
      if (fitted.refused) continue;
      candidate.law = fitted.law;
      candidate.constants = static_cast<std::int64_t>(fitted.family->constants(fitted.law).size());
      candidate.error_inside = typical(log_errors(fitted.law, points_));
      std::vector<double> of_folds;
      for (std::size_t k = 0; k < folds_.size(); ++k) {
        of_folds.push_back(stats::mean(log_errors(fitted.of_folds[k], folds_[k].test)));
      }
      candidate.error_held_out = fitted.error_held_out = of_folds.empty() ? *candidate.error_inside : typical(of_folds);
      if (chosen_ == nullptr || fitted.error_held_out < chosen_->error_held_out) chosen_ = &fitted;
    }
    if (chosen_ == nullptr) refuse();
    prefer_known_form();
    model_.family = chosen_->family->name();
    model_.law = chosen_->law;
    for (const auto& fitted : fitted_) {
      if (is_rival(fitted)) model_.uncertainty.rivals.push_back(fitted.law);
    }
    tell_aliases();
    if (!model_.law.by.empty()) tell_levels();
    if (!by_scale_) {
      model_.notes.push_back(
          "No factor has three levels, so families were chosen by points held out at random, and "
          "nothing is known of how errors grow beyond what was measured.");
    }
  }

  /// What levels share, and what each has for itself.
  void tell_levels() {
    std::string own;
    std::string shared;
    std::string before;
    for (const auto& found : chosen_->family->constants(model_.law)) {
      if (found.name == before) continue;
      before = found.name;
      auto& names = found.level.empty() ? shared : own;
      names += (names.empty() ? "" : ", ") + found.name;
    }
    const auto& by = model_.law.by;
    model_.notes.push_back(own.empty()
                               ? fmt::format("Every level of {} has the same constants: no difference was proved.", by)
                               : fmt::format("Each level of {} has its own {}; {}.", by, own,
                                             shared.empty() ? "nothing is shared" : "all share " + shared));
  }

  void prefer_known_form() {
    for (const auto& fitted : fitted_) {
      if (!fitted.family->knows_names() || fitted.refused) continue;
      const bool few = points_.rows.size() < kFewPoints * fitted.family->constants(fitted.law).size();
      if (few && fitted.error_held_out <= kFormIsWorse * chosen_->error_held_out) chosen_ = &fitted;
    }
  }

  /// Another law that does nearly as well as the chosen one.
  bool is_rival(const Fitted& fitted) const {
    return &fitted != chosen_ && !fitted.refused && fitted.error_held_out <= kRivalErrors * chosen_->error_held_out;
  }

  /// Aliases stay only where a law that counts knows them by their names.
  void tell_aliases() {
    const bool by_name = std::any_of(fitted_.begin(), fitted_.end(), [&](const Fitted& fitted) {
      return fitted.family->knows_names() && (&fitted == chosen_ || is_rival(fitted));
    });
    for (const auto& alias : aliases_) {
      model_.notes.push_back(fmt::format(
          "{} goes with {} throughout: {}.", alias.factor, alias.of,
          by_name ? "only the form of a law separates them" : "the data cannot separate one from the other"));
    }
    if (by_name) return;
    points_ = without_aliases(points_, aliases_);
    for (auto& fold : folds_) {
      fold.train = without_aliases(fold.train, aliases_);
      fold.test = without_aliases(fold.test, aliases_);
    }
  }

  [[noreturn]] void refuse() const {
    std::string reasons;
    for (const auto& candidate : model_.candidates) {
      reasons += fmt::format("\n  {}: {}", candidate.family, candidate.refused.value_or(""));
    }
    std::string one_level;
    for (const auto& fixed : model_.fixed) one_level += (one_level.empty() ? "" : ", ") + fixed.factor;
    fail(ErrorKind::usage, "no law can be fitted to {} points.{}{}", points_.rows.size(), reasons,
         one_level.empty() ? "" : "\nSeen at one level only: " + one_level + ". Measure at least two, better four.");
  }

  void describe_data() {
    if (!model_.law.by.empty()) model_.model_version = kModelVersion;
    model_.name = request_.name;
    model_.created_utc = utc_now();
    model_.data = identity(request_.table);
    model_.rows = static_cast<std::int64_t>(request_.table.rows.size());
    model_.points = static_cast<std::int64_t>(points_.rows.size());
    const auto bounds = bounds_of(points_);
    for (std::size_t f = 0; f < points_.factors.size(); ++f) {
      const auto& factor = points_.factors[f];
      const auto count = static_cast<std::int64_t>(levels(points_, f).size());
      model_.ranges.push_back({factor.name, factor.role, bounds[f].low, bounds[f].high, count, factor.names});
    }
  }

  void find_uncertainty() {
    auto& doubt = model_.uncertainty;
    doubt.confidence = request_.confidence;
    doubt.inside = conformal_quantile(residuals_inside(), request_.confidence);
    find_growth();
    draw();
  }

  /// Of points that the constants have not seen; the terms are those of all points.
  std::vector<double> residuals_inside() const {
    std::vector<double> residuals;
    for (const auto& fold : random_folds(points_, kConformalFolds, seed(2))) {
      const auto law = chosen_->family->refit(chosen_->law, for_family(*chosen_->family, fold.train));
      const auto errors = log_errors(law, fold.test);
      residuals.insert(residuals.end(), errors.begin(), errors.end());
    }
    return residuals.empty() ? log_errors(chosen_->law, points_) : residuals;
  }

  /// How much an error grows with each doubling beyond what was seen, and how intervals that allow for it do on a fold
  /// that they have not seen.
  void find_growth() {
    if (!by_scale_) return;
    struct Held {
      double error, doublings;
      std::size_t fold;
    };
    std::vector<Held> held;
    for (std::size_t k = 0; k < folds_.size(); ++k) {
      const auto errors = log_errors(chosen_->of_folds[k], folds_[k].test);
      const auto seen = bounds_of(folds_[k].train);
      for (std::size_t i = 0; i < errors.size(); ++i) {
        held.push_back({errors[i], doublings_beyond(seen, folds_[k].test.rows[i].values), k});
      }
    }
    auto& doubt = model_.uncertainty;
    const auto growth = [&](std::size_t without) {
      std::vector<double> grown;
      for (const auto& one : held) {
        if (one.fold == without || one.doublings <= 0) continue;
        const double excess = std::max(0.0, one.error * one.error - doubt.inside * doubt.inside);
        grown.push_back(std::sqrt(excess) / one.doublings);
      }
      return conformal_quantile(grown, request_.confidence);
    };
    doubt.per_doubling = growth(folds_.size());
    if (folds_.size() < 2) return;
    std::size_t inside = 0;
    std::vector<double> of_fold;
    for (std::size_t k = 0; k < folds_.size(); ++k) of_fold.push_back(growth(k));
    for (const auto& one : held) {
      if (one.error <= std::hypot(doubt.inside, of_fold[one.fold] * one.doublings)) ++inside;
    }
    doubt.coverage = static_cast<double>(inside) / static_cast<double>(held.size());
  }

  /// Intervals of the constants: points drawn again from the points, with the same terms.
  void draw() {
    const auto found = chosen_->family->constants(chosen_->law);
    const auto points = for_family(*chosen_->family, points_);
    const auto count = static_cast<std::size_t>(request_.draws);
    std::vector<Law> laws(count);
    for_each_index(count, threads(), [&](std::size_t i) {
      std::mt19937_64 random(seed(100 + i));
      Table drawn{points.factors, {}};
      const auto size = std::min(points_.rows.size(), kMostDrawnPoints);
      for (std::size_t k = 0; k < size; ++k) drawn.rows.push_back(points.rows[random() % points.rows.size()]);
      laws[i] = chosen_->family->refit(chosen_->law, drawn);
    });
    const double tail = (1 - request_.confidence) / 2;
    const double shrink = std::sqrt(static_cast<double>(std::min(points_.rows.size(), kMostDrawnPoints)) /
                                    static_cast<double>(points_.rows.size()));
    for (std::size_t c = 0; c < found.size(); ++c) {
      std::vector<double> values;
      for (const auto& law : laws) values.push_back(chosen_->family->constants(law)[c].value);
      Constant constant{found[c].name, found[c].value, std::nullopt, std::nullopt, "", found[c].level};
      if (!values.empty()) {
        constant.low = found[c].value + shrink * (stats::quantile(values, tail) - found[c].value);
        constant.high = found[c].value + shrink * (stats::quantile(values, 1 - tail) - found[c].value);
      }
      model_.constants.push_back(std::move(constant));
    }
    laws.resize(std::min(laws.size(), kDrawsKept));
    model_.uncertainty.draws = std::move(laws);
  }

  const FitRequest& request_;
  const FitProgress& progress_;
  Model model_;
  Table table_;
  std::vector<Alias> aliases_;
  Table points_;
  std::vector<std::unique_ptr<Family>> by_level_;
  std::vector<const Family*> families_;
  std::vector<Fold> folds_;
  bool by_scale_ = true;
  std::vector<Fitted> fitted_;
  const Fitted* chosen_ = nullptr;
};

}  // namespace

void check(const FitRequest& request) {
  check(request.table);
  for (const auto& name : request.families) static_cast<void>(family_named(name));
  const auto within = [](const char* what, double value, double low, double high) {
    if (!(value >= low && value <= high)) fail(ErrorKind::usage, "{}: {} is outside {} to {}.", what, value, low, high);
  };
  within("evaluations", static_cast<double>(request.evaluations), 1000, 1e8);
  within("penalty", request.penalty, 0, 1);
  within("confidence", request.confidence, 0.5, 0.99);
  within("draws", static_cast<double>(request.draws), 0, 10'000);
  within("threads", static_cast<double>(request.threads), 1, 1024);
  within("seed", static_cast<double>(request.seed), 0, 1e15);
}

Model fit(const FitRequest& request, const FitProgress& progress) {
  check(request);
  if (request.table.rows.empty()) fail(ErrorKind::usage, "there are no rows to fit.");
  if (const auto* by = factor_of_text(request.table.factors); by != nullptr && by->names->size() < 2) {
    fail(ErrorKind::usage, "{} has one level, {}: there is nothing to tell apart. Leave --by out.", shown(by->name),
         shown(by->names->front()));
  }
  return Fitting(request, progress).run();
}

}  // namespace assay::model
