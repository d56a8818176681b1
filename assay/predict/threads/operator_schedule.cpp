#include "assay/predict/threads/operator_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/core/error.hpp"

namespace assay::predict {
namespace {

constexpr double kSameSeconds = 1e-3;  // relative: a difference that no measurement shows

void check_setting(const ThreadSetting& s) {
  if (s.inter_op < 1 || s.intra_op < 1) {
    fail(ErrorKind::usage, "inter_op {} with intra_op {}: both are 1 or more.", s.inter_op, s.intra_op);
  }
  if (s.quota && !(*s.quota > 0)) fail(ErrorKind::usage, "a quota of {} CPUs is not above 0.", *s.quota);
}

struct RunningOperator {
  std::size_t index = 0;
  double left = 1;  ///< share of it that is still to do
  double rate = 0;  ///< shares per second
};

class OperatorPlay {
 public:
  OperatorPlay(const std::vector<OperatorTime>& operators, const ThreadLaws& laws, const ThreadMachine& machine,
               const ThreadSetting& setting)
      : operators_(operators), laws_(laws), machine_(machine), setting_(setting), waits_for_(operators.size()) {
    followers_.resize(operators.size());
    for (std::size_t i = 0; i < operators.size(); ++i) {
      waits_for_[i] = operators[i].after.size();
      for (const auto before : operators[i].after) followers_[before].push_back(i);
    }
    for (std::size_t i = 0; i < operators.size(); ++i) {
      if (operators[i].after.empty()) become_ready(i);
    }
  }

  ThreadPrediction play() {
    ThreadPrediction played{setting_, 0, 0};
    while (begin_operators()) {
      share_cores();
      double until = std::numeric_limits<double>::infinity();
      for (const auto& one : running_) until = std::min(until, one.left / one.rate);
      played.seconds += until;
      played.cpu_seconds += until * cpus_used();
      pass(until);
    }
    if (setting_.quota) played.seconds = std::max(played.seconds, played.cpu_seconds / *setting_.quota);
    return played;
  }

 private:
  /// What costs nothing is over at once, and so may be what follows it.
  void become_ready(std::size_t index) {
    std::vector<std::size_t> reached{index};
    while (!reached.empty()) {
      const auto one = reached.back();
      reached.pop_back();
      if (operators_[one].seconds > 0) {
        ready_.push_back(one);
        continue;
      }
      for (const auto next : followers_[one]) {
        if (--waits_for_[next] == 0) reached.push_back(next);
      }
    }
  }

  void finish(std::size_t index) {
    for (const auto next : followers_[index]) {
      if (--waits_for_[next] == 0) become_ready(next);
    }
  }

  bool begin_operators() {
    const auto most = std::min(setting_.inter_op, laws_.most_at_once.value_or(setting_.inter_op));
    while (first_ready_ < ready_.size() && running_.size() < static_cast<std::size_t>(most)) {
      running_.push_back({ready_[first_ready_++], 1, 0});
    }
    return !running_.empty();
  }

  double cores() const { return static_cast<double>(machine_.cores); }
  double running() const { return static_cast<double>(running_.size()); }
  double extra_threads() const { return static_cast<double>(setting_.intra_op - 1); }

  /// Of one operator; more than its share of the cores make it no faster.
  double threads_each() const {
    const double each = 1 + (laws_.sharing == ThreadSharing::own ? extra_threads() : extra_threads() / running());
    return std::min(each, std::max(1.0, cores() / running()));
  }

  const OperatorLaw& law_of(const OperatorTime& op) const { return op.heavy ? laws_.heavy : laws_.light; }

  /// Of all that is paid before an operator begins.
  double begin_seconds() const { return laws_.dispatch_seconds + (setting_.inter_op > 1 ? laws_.handover_seconds : 0); }

  double seconds_of(const OperatorTime& op) const {
    return begin_seconds() + law_of(op).seconds(op.seconds, threads_each());
  }

  /// CPUs that would be in use if there were enough: those that work, and those that spin.
  double cpus_wanted() const {
    double work = 0;
    for (const auto& one : running_) {
      const auto& op = operators_[one.index];
      work += (begin_seconds() + law_of(op).cpu_seconds(op.seconds, threads_each())) / seconds_of(op);
    }
    const double pools = laws_.sharing == ThreadSharing::own ? static_cast<double>(setting_.inter_op) : 1;
    const double idle = std::max(running() + pools * extra_threads() - work, 0.0);
    return work + laws_.thread_spin * idle + laws_.pool_spin * (static_cast<double>(setting_.inter_op) - running());
  }

  void share_cores() {
    const double even = std::min(1.0, cores() / cpus_wanted());
    const double share = threads_each() > 1 ? std::pow(even, laws_.crowding) : even;
    double light = 0;  // how many cores' worth of light operators is done per second
    for (auto& one : running_) {
      const auto& op = operators_[one.index];
      one.rate = share / seconds_of(op);
      if (!op.heavy) light += one.rate * op.seconds;
    }
    if (!machine_.memory_cores || light <= *machine_.memory_cores) return;
    for (auto& one : running_) {
      if (!operators_[one.index].heavy) one.rate *= *machine_.memory_cores / light;
    }
  }

  double cpus_used() const { return std::min(cores(), cpus_wanted()); }

  void pass(double seconds) {
    constexpr double kNothing = 1e-12;  // of an operator: what rounding leaves of several that end together
    std::vector<std::size_t> ended;
    for (auto& one : running_) {
      one.left -= seconds * one.rate;
      if (one.left <= kNothing) ended.push_back(one.index);
    }
    std::erase_if(running_, [&](const RunningOperator& one) { return one.left <= kNothing; });
    std::sort(ended.begin(), ended.end());
    for (const auto index : ended) finish(index);
  }

  const std::vector<OperatorTime>& operators_;
  const ThreadLaws& laws_;
  const ThreadMachine& machine_;
  const ThreadSetting& setting_;
  std::vector<std::size_t> waits_for_;  ///< operators before each that have not ended
  std::vector<std::vector<std::size_t>> followers_;
  std::vector<std::size_t> ready_;  ///< in the order in which they became so
  std::size_t first_ready_ = 0;
  std::vector<RunningOperator> running_;
};

}  // namespace

ThreadPrediction schedule_step(const std::vector<OperatorTime>& operators, const ThreadLaws& laws,
                               const ThreadMachine& machine, const ThreadSetting& setting) {
  check_setting(setting);
  return OperatorPlay(operators, laws, machine, setting).play();
}

double critical_seconds(const std::vector<OperatorTime>& operators) {
  std::vector<double> ends;
  double longest = 0;
  for (const auto& op : operators) {
    double begin = 0;
    for (const auto before : op.after) begin = std::max(begin, ends[before]);
    ends.push_back(begin + op.seconds);
    longest = std::max(longest, ends.back());
  }
  return longest;
}

std::size_t fastest_setting(const std::vector<ThreadPrediction>& predictions) {
  ASSAY_CHECK(!predictions.empty());
  const auto by_seconds = [](const auto& a, const auto& b) { return a.seconds < b.seconds; };
  const double least = std::min_element(predictions.begin(), predictions.end(), by_seconds)->seconds;
  const auto threads = [](const ThreadPrediction& p) { return p.setting.inter_op * p.setting.intra_op; };
  std::size_t chosen = predictions.size();
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    if (predictions[i].seconds > least * (1 + kSameSeconds)) continue;
    if (chosen == predictions.size() || threads(predictions[i]) < threads(predictions[chosen])) chosen = i;
  }
  return chosen;
}

}  // namespace assay::predict
