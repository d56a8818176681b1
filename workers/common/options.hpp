#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "assay/core/settings.hpp"
#include "assay/core/workload.hpp"

namespace assay::worker {

/// A scalar as a person would write it: text without quotes, numbers and true or false as in JSON.
std::string scalar_text(const Scalar& value);

/// Takes the options of a workload one by one. A value of the wrong type or out of range, and in the end an option that
/// nobody took, is Refused by name.
class Options {
 public:
  explicit Options(std::map<std::string, Scalar> values) : values_(std::move(values)) {}

  double number(const std::string& name, double otherwise, double low, double high);
  std::int64_t integer(const std::string& name, std::int64_t otherwise, std::int64_t low, std::int64_t high);
  std::string text(const std::string& name, const std::string& otherwise);
  /// Text that is one of `choices`; the first is the default.
  std::string choice(const std::string& name, const std::vector<std::string>& choices);

  /// Throws Refused where an option was given that none of the calls above asked for.
  void refuse_rest() const;

 private:
  const Scalar* take(const std::string& name);

  std::map<std::string, Scalar> values_;
  std::set<std::string> known_;
};

/// Throws Refused where a setting is given that is not in `known` and is not one that assay-rank applies for every
/// worker (instances, affinity, memory_bind, allocator, env). A setting that does nothing must not look applied.
void refuse_settings_beyond(const Settings& settings, const std::set<std::string>& known);

/// Throws Refused where a variable makes oneDNN compute fp32 in less, whatever the framework around it is told.
void refuse_lowered_fp32();

}  // namespace assay::worker
