#include "assay/model/links/link_recognition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "assay/model/links/link_constants.hpp"

namespace assay::model {
namespace {

constexpr std::size_t kFewestSizesOfRange = 4;
constexpr std::size_t kFolds = 3;
constexpr double kSwitchGain = 0.7;
constexpr double kCellsForASwitch = 6;

/// What is held out in turn.
class Folds {
 public:
  explicit Folds(const std::vector<LinkTime>& cells) {
    std::set<double> sizes;
    std::set<std::int64_t> ranks;
    for (const auto& cell : cells) {
      sizes.insert(cell.bytes);
      ranks.insert(cell.ranks);
    }
    sizes_.assign(sizes.begin(), sizes.end());
    if (ranks.size() > 1) most_ranks_ = *ranks.rbegin();
  }

  bool holds_out(std::size_t fold, const LinkTime& cell) const {
    if (fold == 0) return cell.ranks == most_ranks_;
    if (fold == 1) return cell.bytes == sizes_.back();
    return (std::lower_bound(sizes_.begin(), sizes_.end(), cell.bytes) - sizes_.begin()) % 2 == 1;
  }

  const std::vector<double>& sizes() const { return sizes_; }

 private:
  std::vector<double> sizes_;
  std::int64_t most_ranks_ = 0;  ///< 0: there is one number of ranks, which is not held out
};

/// Squares of relative errors for each fold.
struct FoldErrors {
  std::array<double, kFolds> squares{};
  std::array<double, kFolds> cells{};

  void add(const FoldErrors& other) {
    for (std::size_t i = 0; i < kFolds; ++i) {
      squares[i] += other.squares[i];
      cells[i] += other.cells[i];
    }
  }

  double error() const {
    double sum = 0;
    double folds = 0;
    for (std::size_t i = 0; i < kFolds; ++i) {
      if (cells[i] == 0) continue;
      sum += squares[i] / cells[i];
      folds += 1;
    }
    return folds > 0 ? std::sqrt(sum / folds) : 0;
  }
};

/// Cells of a range, as one algorithm sees them.
FoldErrors errors_of(const std::vector<LinkTime>& cells, const Folds& folds) {
  FoldErrors errors;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<LinkTime> seen;
    std::vector<LinkTime> unseen;
    for (const auto& cell : cells) (folds.holds_out(fold, cell) ? unseen : seen).push_back(cell);
    if (seen.empty() || unseen.empty()) continue;
    const auto link = solve_link(seen).link;
    for (const auto& cell : unseen) {
      errors.squares[fold] += std::pow(seconds_of(cell, link) / cell.seconds - 1, 2);
      errors.cells[fold] += 1;
    }
  }
  return errors;
}

/// A range with its candidates, and the errors of the nearest of them.
struct JudgedRange {
  SizeRange range;
  FoldErrors errors;
};

JudgedRange judge_range(Collective collective, const std::vector<LinkTime>& cells, const Folds& folds, double from,
                        double below) {
  JudgedRange judged{{from, below, {}}, {}};
  double least = std::numeric_limits<double>::infinity();
  for (const auto algorithm : algorithms_of(collective)) {
    std::vector<LinkTime> own;
    for (auto cell : cells) {
      if (!judged.range.holds(cell.bytes)) continue;
      cell.use = link_use(collective, algorithm, cell.ranks);
      own.push_back(std::move(cell));
    }
    const auto errors = errors_of(own, folds);
    judged.range.candidates.push_back({algorithm, errors.error()});
    if (errors.error() >= least) continue;
    least = errors.error();
    judged.errors = errors;
  }
  std::stable_sort(judged.range.candidates.begin(), judged.range.candidates.end(),
                   [](const AlgorithmCandidate& a, const AlgorithmCandidate& b) { return a.error < b.error; });
  return judged;
}

/// The share of the error of one range below which two are told. They have a constant each more, a size at which to
/// change, and the choice among all of those: with few cells, two ranges fit better by chance.
double switch_gain(std::size_t cells) {
  return kSwitchGain * std::sqrt(std::max(0.0, 1 - kCellsForASwitch / static_cast<double>(cells)));
}

}  // namespace

Recognition recognise(Collective collective, const std::vector<LinkPoint>& points) {
  std::vector<LinkTime> times;
  for (const auto& point : points) times.push_back(link_time(point, algorithms_of(collective).front()));
  const auto cells = cell_medians(times);
  const Folds folds(cells);
  const auto infinity = std::numeric_limits<double>::infinity();
  const auto whole = judge_range(collective, cells, folds, 0, infinity);
  Recognition found{{whole.range}, whole.errors.error()};
  double least = switch_gain(cells.size()) * found.error;
  const auto& sizes = folds.sizes();
  for (std::size_t i = kFewestSizesOfRange; i + kFewestSizesOfRange <= sizes.size(); ++i) {
    const auto small = judge_range(collective, cells, folds, 0, sizes[i]);
    const auto large = judge_range(collective, cells, folds, sizes[i], infinity);
    auto errors = small.errors;
    errors.add(large.errors);
    if (errors.error() >= least) continue;
    least = errors.error();
    found = {{small.range, large.range}, errors.error()};
  }
  return found;
}

}  // namespace assay::model
