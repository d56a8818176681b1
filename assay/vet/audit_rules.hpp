#pragma once

#include <vector>

#include "assay/vet/audit_observation.hpp"

namespace assay::vet {

/// How far from the rule is too far. Each cheat that a check is there for is well beyond its limit, and honest workers
/// on a noisy machine are well within: fresh processes of the same work differ by 15 % here, CPU times of commands that
/// follow each other by 5 %.
struct AuditLimits {
  double output = 1e-4;        ///< as of EqualityLimits: fp32 gives a few 1e-6, half precision 1e-3
  double other_output = 1e-2;  ///< unrelated values are about 1 apart
  double late = 0.5;           ///< of a step: computing it once more takes a whole one, writing a small file 1 ms
  double clock = 0.95;         ///< of the time that passed; the loop itself takes microseconds between steps
  double pause = 0.95;         ///< of a pause that lies within a sample
  double repeats = 0.02;       ///< of samples: by chance two of milliseconds are the same in 1 of 1e5
  double busy = 0.85;          ///< of the time; a thread that computes is on a CPU or waits for one
  double idle = 0.07;          ///< of the time: half a step, of which one that was not waited for takes a whole one
  double least_growth = 1.6;   ///< for 4 times the work: what a step costs besides left 2.0 in the worst of 50 audits
  double most_growth = 8;
  double cost = 0.7;  ///< of the same work untimed; skipping every second step, layer or sample leaves .5 to .6
};

/// Holds what was seen in a round to every rule, in the order in which they are shown.
std::vector<AuditCheck> judge(const AuditRound& seen, const AuditLimits& limits = {});

}  // namespace assay::vet
