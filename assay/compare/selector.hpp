#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/store/store.hpp"

namespace assay::compare {

/// One side of a comparison, as a person names it.
///
///     nightly, nightly@2, campaign:3fa9   a campaign: its newest round, its second, or by the first digits of its id
///     onnxruntime==1.31.1                 a release of a worker
///     pytorch, worker:pytorch             a worker, whatever its release
///     intra_op=2, env.NAME=x              a setting; null: left to the framework
///     platform:ab12                       a machine
///     2026-11-15, 2026-11-15T08           a date, in UTC
///     trial:4c1d                          one trial
class Selector {
 public:
  enum class Kind { campaign, release, worker, setting, platform, date, trial };

  /// Throws Error{usage} that says what the store has instead.
  Selector(const std::string& text, const std::vector<store::CampaignRow>& campaigns,
           const std::vector<store::TrialRow>& trials);

  const std::string& text() const { return text_; }
  Kind kind() const { return kind_; }

  bool matches(const store::RunRow& row, const Trial& trial) const;

  /// Takes off `whole`, a trial as JSON, what this side says of it: what is left must be the same on all sides.
  void take_off(const Trial& trial, json& whole) const;

 private:
  bool matches_setting(const Trial& trial) const;

  std::string text_;
  Kind kind_ = Kind::campaign;
  std::string name_;   ///< of the worker or the setting; id of a campaign, trial or platform; a date
  std::string value_;  ///< release, or the setting's value
};

/// The campaign of this name, its newest round or, as NAME@2, another; or by the first digits of its id.
std::optional<store::CampaignRow> find_campaign(const std::string& named,
                                                const std::vector<store::CampaignRow>& campaigns);

/// Whether a workload is a program or file of the user's own: it keeps its name while what is in it changes, and that
/// change is what one compares.
bool is_own_code(const Workload& workload);

/// Takes off `whole`, a trial as JSON, what its file or program holds where that is the user's own.
void take_off_own_code(const Trial& trial, json& whole);

/// Axis of a plan and the text for it that would measure this side: {"worker", "onnxruntime==1.31.1"}. Throws
/// Error{usage} where a side names something that only the past has.
std::pair<std::string, std::string> axis_of(const std::string& side);

}  // namespace assay::compare
