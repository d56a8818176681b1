#pragma once

#include <optional>

#include "assay/predict/cluster.hpp"
#include "assay/predict/training/failures.hpp"

namespace assay::predict {

/// What a training takes of machines. What the cluster file does not state is null.
struct Bill {
  double hours = 0;
  double device_hours = 0;      ///< with those of spares
  std::optional<double> price;  ///< in the currency of the cluster file
  std::optional<double> energy_kwh;
  std::optional<double> carbon_kg;
};

template <typename V>
void describe(V& v, Bill& b) {
  required(v, "hours", b.hours);
  required(v, "device_hours", b.device_hours);
  v("price", b.price);
  v("energy_kwh", b.energy_kwh);
  v("carbon_kg", b.carbon_kg);
}

Bill& operator+=(Bill& all, const Bill& more);

/// Of so much time on this part of a cluster and `spare_nodes` more that wait. Devices compute for `busy_share` of the
/// time of steps, those that count and those that are lost, and wait else.
Bill bill_of(const Cluster& part, std::int64_t spare_nodes, const TrainingTime& time, double busy_share);

/// Failures that stop a job on this part of a cluster, a second: those of its devices and of its nodes.
double failures_per_second(const Cluster& part);

}  // namespace assay::predict
