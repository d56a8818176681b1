// Lock-step groups of five on a host that changes its speed, in virtual time: what the order of turns, the ratios of a
// group and the verdicts on a family make of it. Prints one JSON document.
//   groups FAMILIES
#include <cmath>
#include <iostream>
#include <random>
#include <string>

#include "assay/compare/families.hpp"
#include "assay/measure/agent/group.hpp"
#include "assay/measure/rank/turns.hpp"

namespace {

using assay::json;
using assay::RankResult;
namespace compare = assay::compare;

constexpr std::size_t kSides = 5;
constexpr double kStepSeconds = 0.005;
constexpr double kGroupSeconds = 2;
constexpr double kSlowDown = 0.3;      // of the host, while it is slow
constexpr double kPhaseSeconds = 0.7;  // mean length of its fast and slow phases
constexpr double kDrift = 0.6;         // from the beginning of a group to its end
constexpr double kSettling = 0.2;      // at most, of the first step after a stop
constexpr double kStepNoise = 0.03;
constexpr std::int64_t kSteps = 3;  // in a slice, the first of which settles

using Truth = std::array<double, kSides>;

/// A host whose clock moves only while somebody works.
class Host {
 public:
  explicit Host(std::uint64_t seed) : random_(seed) {}

  double normal() { return normal_(random_); }

  void begin_group() {
    now_ = 0;
    slow_ = uniform_(random_) < 0.5;
    change_ = phase_(random_);
  }
  double now() const { return now_; }

  /// A step that would take `seconds` on the undisturbed host.
  double work(double seconds) {
    for (; now_ >= change_; change_ += phase_(random_)) slow_ = !slow_;
    const double took = seconds * (slow_ ? 1 + kSlowDown : 1) * (1 + kDrift * now_ / kGroupSeconds);
    now_ += took;
    return took;
  }

  double settling() { return 1 + kSettling * uniform_(random_); }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  std::exponential_distribution<double> phase_{1 / kPhaseSeconds};
  double now_ = 0;
  double change_ = 0;
  bool slow_ = false;
};

/// The sides take turns until the time is over, as assay-rank has them do it.
std::vector<std::vector<RankResult>> measure_group(Host& host, const Truth& truth, double process_noise) {
  std::vector<std::vector<RankResult>> results(kSides, std::vector<RankResult>(1));
  Truth own = truth;  // of these processes
  for (double& step : own) step *= kStepSeconds * std::exp(process_noise * host.normal());
  host.begin_group();
  for (std::int64_t turn = 0; turn % std::int64_t{kSides} != 0 || host.now() < kGroupSeconds; ++turn) {
    const auto side = static_cast<std::size_t>(assay::measure::side_of_turn(turn, kSides));
    auto& rank = results[side][0];
    rank.slices.push_back({turn, 0, 0, kSteps, false, std::nullopt});
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const double noise = std::exp(kStepNoise * host.normal()) * (step == 0 ? host.settling() : 1);
      rank.samples_ns.push_back(std::llround(1e9 * host.work(own[side] * noise)));
    }
  }
  return results;
}

assay::Trial trial_of(std::size_t side) {
  assay::Trial trial;
  trial.workload.network = "toy";
  trial.worker = {"fake", std::to_string(side + 1)};
  return trial;
}

/// Groups of five trials, as a store would give them.
class Campaign {
 public:
  Campaign() {
    for (std::size_t side = 0; side < kSides; ++side) {
      const auto trial = trial_of(side);
      material_.trials.push_back({assay::trial_id(trial), trial});
    }
    for (std::size_t side = 0; side < kSides; ++side) {
      selectors_.emplace_back(fmt::format("fake=={}", side + 1), std::vector<assay::store::CampaignRow>{},
                              material_.trials);
    }
  }

  compare::Family measured(Host& host, const Truth& truth, double process_noise, int groups) {
    material_.rows.clear();
    for (int group = 0; group < groups; ++group) {
      const auto results = measure_group(host, truth, process_noise);
      for (std::size_t side = 0; side < kSides; ++side) {
        assay::store::RunRow row;
        row.trial = material_.trials[side].id;
        row.platform = "p";
        row.pair = assay::Pair{std::to_string(group), side == 0 ? assay::PairSide::a : assay::PairSide::b};
        row.summary.median_ns = results[side][0].samples_ns.back();
        if (side > 0) row.digest.pair_log_ratio = assay::measure::log_ratio(results, side);
        material_.rows.push_back(row);
      }
    }
    return compare::compare_all(material_, selectors_, compare::FamilyReference::first).all.at(0);
  }

 private:
  compare::Material material_;
  std::vector<compare::Selector> selectors_;
};

bool is_verdict(const compare::FamilyPair& pair) {
  return pair.comparison.verdict == compare::Verdict::slower || pair.comparison.verdict == compare::Verdict::faster;
}

constexpr double kProcessNoise = 0.018;  // a ratio of two processes then scatters by 2.5 %
constexpr int kGroups = 16;
constexpr std::size_t kSlower = 3;  // the side that the shift is planted on
constexpr double kShift = 1.05;

/// Families in which sides that are the same are told apart.
int false_families(Campaign& campaign, Host& host, int families) {
  int wrong = 0;
  for (int i = 0; i < families; ++i) {
    const auto family = campaign.measured(host, {1, 1, 1, 1, 1}, kProcessNoise, kGroups);
    wrong += std::any_of(family.pairs.begin(), family.pairs.end(), is_verdict) ? 1 : 0;
  }
  return wrong;
}

/// Families in which the one slower side is found to be slower than each of the others.
int found_families(Campaign& campaign, Host& host, int families) {
  int found = 0;
  Truth truth{1, 1, 1, 1, 1};
  truth[kSlower] = kShift;
  for (int i = 0; i < families; ++i) {
    const auto family = campaign.measured(host, truth, kProcessNoise, kGroups);
    found += std::all_of(family.pairs.begin(), family.pairs.end(),
                         [](const auto& pair) {
                           if (pair.second == kSlower) return pair.comparison.verdict == compare::Verdict::slower;
                           if (pair.first == kSlower) return pair.comparison.verdict == compare::Verdict::faster;
                           return true;
                         })
                 ? 1
                 : 0;
  }
  return found;
}

/// How far the ratios of processes that differ by nothing but the truth are off, in percent.
json planted_truth(Campaign& campaign, Host& host) {
  const Truth truth{1, 1.02, 1.05, 0.9, 1.5};
  const auto family = campaign.measured(host, truth, 0, kGroups);
  json off = json::array();
  for (std::size_t side = 0; side < kSides; ++side) off.push_back(100 * (*family.sides[side].ratio / truth[side] - 1));
  return off;
}

}  // namespace

int main(int argc, char** argv) {
  const int families = argc > 1 ? std::stoi(argv[1]) : 2000;
  Campaign campaign;
  Host truth_host(20261118);
  Host same_host(20261119);
  Host shift_host(20261120);
  const json off = planted_truth(campaign, truth_host);
  const int wrong = false_families(campaign, same_host, families);
  const int shifted = families / 2;
  const json out = {{"families", families},
                    {"off_percent", off},
                    {"false_families", wrong},
                    {"shifted", shifted},
                    {"found", found_families(campaign, shift_host, shifted)}};
  std::cout << out.dump() << "\n";
  return 0;
}
