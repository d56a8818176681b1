#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/measure/agent/agent.hpp"

namespace assay::cli {

/// "40 s", "3 min 20 s", "2 h 5 min".
std::string for_person(std::int64_t seconds);

/// How long ago this was, by the clock of the day: "3 min ago". Text as utc_now() gives it.
std::string time_ago(const std::string& utc);

/// Columns that a line on stderr may have without breaking.
std::size_t stderr_width();

/// Shows on stderr what runs now, how much is done and how long the rest may take: one line that is written over on a
/// terminal, a line now and then elsewhere.
class ProgressLine : public measure::AgentObserver {
 public:
  /// `heard` is told of every record that counts; true: it says itself why that run failed.
  using Heard = std::function<bool(const Record&)>;

  ProgressLine(store::RunQueue& store, const std::string& campaign, bool quiet, Heard heard = {});
  ~ProgressLine() override;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void started(const store::Lease& lease) override;
  bool follows() const override { return terminal_ && !quiet_; }
  void measuring(const store::Lease& lease, std::int64_t median_ns) override;
  void finished(const store::Lease& lease, const std::vector<store::Finished>& finished) override;
  void waiting(const std::string& why) override;
  void warning(const std::string& what) override;

 private:
  void show(const std::string& now, bool at_once);
  void note_median(const store::Finished& finished);
  void clear_line();
  std::string time_left() const;
  std::string medians_so_far(const store::Lease& lease) const;

  Heard heard_;
  bool quiet_;
  bool terminal_;
  bool line_shown_ = false;
  std::int64_t total_ = 0;
  std::int64_t done_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t again_ = 0;
  std::int64_t done_here_ = 0;
  std::int64_t begin_ns_;
  std::int64_t shown_ns_ = 0;
  std::string waited_for_;
  std::map<std::string, std::vector<double>> medians_ns_;    ///< of the good runs of each trial
  std::map<std::string, std::vector<double>> disturbed_ns_;  ///< of runs that are measured again
};

}  // namespace assay::cli
