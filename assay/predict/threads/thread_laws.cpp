#include "assay/predict/threads/thread_laws.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/error.hpp"

namespace assay::predict {
namespace {

void check_number(const char* name, double value, double most) {
  if (value >= 0 && value <= most && std::isfinite(value)) return;
  fail(ErrorKind::usage, "laws: {} is {}, outside 0 to {}.", name, value, most);
}

}  // namespace

double OperatorLaw::seconds(double alone, double threads) const {
  const double several = std::max(threads, 1.0);
  return alone * (serial + (1 - serial) / several) + (several > 1 ? fork_seconds : 0);
}

double OperatorLaw::cpu_seconds(double alone, double threads) const {
  return alone + (threads > 1 ? threads * fork_seconds : 0);
}

void check(const ThreadLaws& laws) {
  constexpr double kMostSeconds = 3600;
  constexpr double kMostCrowding = 10;
  for (const auto* law : {&laws.heavy, &laws.light}) {
    check_number("serial", law->serial, 1);
    check_number("fork_seconds", law->fork_seconds, kMostSeconds);
  }
  check_number("dispatch_seconds", laws.dispatch_seconds, kMostSeconds);
  check_number("handover_seconds", laws.handover_seconds, kMostSeconds);
  check_number("thread_spin", laws.thread_spin, 1);
  check_number("pool_spin", laws.pool_spin, 1);
  check_number("crowding", laws.crowding, kMostCrowding);
  if (laws.most_at_once && *laws.most_at_once < 1) {
    fail(ErrorKind::usage, "laws: most_at_once is {}; it is 1 or more.", *laws.most_at_once);
  }
}

}  // namespace assay::predict
