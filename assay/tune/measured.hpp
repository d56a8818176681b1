#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/plan/campaign.hpp"
#include "assay/store/store.hpp"
#include "assay/tune/goal.hpp"
#include "assay/tune/search/search.hpp"

namespace assay::tune {

/// Thrown where the user stopped the work; the same command goes on from there.
struct Stopped {};

/// Measures what is missing of a campaign and gives its id. Throws Stopped.
using Work = std::function<std::string(const plan::Campaign&)>;

struct MeasuredSetup {
  std::string name;
  std::int64_t seed = 1;
  Measure measure;
  Goal goal;
  std::vector<Trial> candidates;
  /// Races in lock-step; else whole runs take turns: under a quota, where one side would use up what the other needs,
  /// and for sides too large to be alive at once.
  bool lockstep = true;
};

/// Evaluations from a store; what is not there is measured. It keeps no state of its own, so that a search over it that
/// was killed is replayed to where it was.
class MeasuredObjective : public Objective {
 public:
  MeasuredObjective(MeasuredSetup setup, store::Store& store, Work work);

  std::vector<std::optional<double>> measure(const std::vector<std::size_t>& candidates) override;
  std::vector<double> race(std::size_t a, std::size_t b, std::int64_t pairs) override;
  SearchCost spent() const override { return spent_; }
  bool within_limit(std::size_t candidate) const override;

  /// That steps are judged by; null also where every run looks for a rate within it.
  std::optional<TailLimit> limit() const { return setup_.goal.judges_tail() ? setup_.goal.limit : std::nullopt; }

  /// What all steps of a candidate that were measured say about the goal's limit.
  Tail tail(std::size_t candidate) const;

  /// The index of a trial, which joins the candidates where it is none of them.
  std::size_t index_of(const Trial& trial);

 private:
  plan::Campaign campaign(const std::string& what) const;
  struct MeasuredRun {
    store::RunRow row;
    Tail tail;  ///< where the goal has a limit
  };
  std::vector<MeasuredRun> evaluations(const std::string& campaign, std::size_t candidate);
  void count(const MeasuredRun& one, std::size_t candidate);
  std::optional<double> log_ratio(const MeasuredRun& a, const MeasuredRun& b, std::size_t index_a,
                                  std::size_t index_b) const;

  MeasuredSetup setup_;
  store::Store& store_;
  Work work_;
  std::string subject_;
  std::vector<std::string> ids_;
  std::map<std::size_t, std::int64_t> asked_;
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> raced_;
  std::map<std::size_t, Tail> tails_;
  SearchCost spent_;
};

}  // namespace assay::tune
