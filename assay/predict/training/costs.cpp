#include "assay/predict/training/costs.hpp"

namespace assay::predict {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kJoulesPerKwh = 3.6e6;

void add_where(std::optional<double>& all, const std::optional<double>& more) {
  if (all && more) {
    *all += *more;
  } else {
    all.reset();
  }
}

double energy_kwh(const Cluster& part, std::int64_t spare_nodes, const TrainingTime& time, double busy_share) {
  const auto& power = *part.power;
  const auto devices = static_cast<double>(part.devices());
  const auto nodes = static_cast<double>(part.nodes);
  const auto spares = static_cast<double>(spare_nodes);
  const double busy = busy_share * (time.useful_seconds + time.lost_seconds);
  const double own = power.node_watts + power.network_watts;
  const double waiting = static_cast<double>(part.devices_per_node) * power.idle_watts + own;
  const double joules =
      devices * (power.busy_watts - power.idle_watts) * busy + (nodes + spares) * waiting * time.seconds;
  return power.cooling * joules / kJoulesPerKwh;
}

}  // namespace

Bill& operator+=(Bill& all, const Bill& more) {
  all.hours += more.hours;
  all.device_hours += more.device_hours;
  add_where(all.price, more.price);
  add_where(all.energy_kwh, more.energy_kwh);
  add_where(all.carbon_kg, more.carbon_kg);
  return all;
}

Bill bill_of(const Cluster& part, std::int64_t spare_nodes, const TrainingTime& time, double busy_share) {
  Bill bill;
  bill.hours = time.seconds / kSecondsPerHour;
  const auto nodes = static_cast<double>(part.nodes + spare_nodes);
  bill.device_hours = bill.hours * nodes * static_cast<double>(part.devices_per_node);
  if (part.price_per_hour) bill.price = bill.hours * nodes * *part.price_per_hour;
  if (part.power) bill.energy_kwh = energy_kwh(part, spare_nodes, time, busy_share);
  if (bill.energy_kwh && part.carbon_grams_per_kwh)
    bill.carbon_kg = *bill.energy_kwh * *part.carbon_grams_per_kwh / 1000;
  return bill;
}

double failures_per_second(const Cluster& part) {
  double rate = 0;
  if (!part.failures) return rate;
  if (part.failures->device_seconds) rate += static_cast<double>(part.devices()) / *part.failures->device_seconds;
  if (part.failures->node_seconds) rate += static_cast<double>(part.nodes) / *part.failures->node_seconds;
  return rate;
}

}  // namespace assay::predict
