#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/plan/catalog/catalog.hpp"

namespace assay::vet {

enum class Judgement { ok, alarm, not_tried };

/// One way of cheating that was looked for.
struct AuditCheck {
  std::string name;
  std::string rule;  ///< what an honest worker does, as a sentence
  Judgement judgement = Judgement::not_tried;
  std::string expected;
  std::string seen;         ///< or why it was not tried
  std::int64_t alarms = 0;  ///< rounds in which the rule was broken; two make an alarm
};

template <typename V>
void describe(V& v, AuditCheck& c) {
  required(v, "name", c.name);
  required(v, "rule", c.rule);
  required(v, "judgement", c.judgement);
  required(v, "expected", c.expected);
  required(v, "seen", c.seen);
  required(v, "alarms", c.alarms);
}

/// How a worker was looked at, and what was seen.
struct AuditResult {
  std::string worker;
  std::string release;
  std::int64_t rounds = 0;  ///< each in processes of its own; three where two did not agree on every check
  std::vector<AuditCheck> checks;

  std::int64_t alarms() const {  ///< checks that raise one
    return std::count_if(checks.begin(), checks.end(), [](const auto& c) { return c.judgement == Judgement::alarm; });
  }
};

template <typename V>
void describe(V& v, AuditResult& r) {
  required(v, "worker", r.worker);
  required(v, "release", r.release);
  required(v, "rounds", r.rounds);
  required(v, "checks", r.checks);
}

struct AuditRequest {
  plan::WorkerInfo worker;
  std::int64_t seed = 1;         ///< weights and inputs follow from it
  std::filesystem::path folder;  ///< for small files, removed at the end
  std::function<void(const std::string& what)> started = [](const auto&) {};
};

/// Whether the steps that a worker times are the work that it was given: gives it small networks of the audit's own, on
/// one thread, and compares what it says with what is seen from outside. Every round is made of fresh processes; a
/// check is an alarm, or is not, once two rounds agree on it, which takes two or three: noise passes, a cheat stays.
/// Throws Error where the worker cannot be audited. Ends whatever it started; the calling process becomes a subreaper
/// and must have no other children.
AuditResult audit(const AuditRequest& request);

}  // namespace assay::vet

template <>
struct assay::EnumNames<assay::vet::Judgement> {
  static constexpr std::array<const char*, 3> names{"ok", "alarm", "not_tried"};
};
