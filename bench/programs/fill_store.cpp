// A store with two campaigns of the same trials, for figures about reading.
//   fill_store STORE TRIALS RUNS SAMPLES [NAME]: the campaigns are "before" and "after", with NAME in front where it is
//   given, and then of trials of their own. Prints the seconds that the store took to give and to take runs.
#include <cmath>
#include <iostream>
#include <random>
#include <string>

#include "assay/core/clock.hpp"
#include "assay/measure/summary.hpp"
#include "assay/store/store.hpp"

namespace {

using namespace assay;

Trial trial_of(std::int64_t number, const std::string& prefix) {
  Trial trial;
  trial.workload.network = prefix + "toy";
  trial.workload.batch = number + 1;
  trial.worker = {"fake", "1.0"};
  return trial;
}

Record record_of(const Trial& trial, double scale, std::int64_t samples, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double step_ns = 1e5 * static_cast<double>(trial.workload.batch + 2) * scale * std::exp(0.015 * normal(random));
  RankResult rank;
  for (std::int64_t i = 0; i < samples; ++i)
    rank.samples_ns.push_back(std::llround(step_ns * std::exp(0.03 * normal(random))));
  rank.slices.push_back({0, 0, samples, samples, false, 2'000'000});
  rank.probe_after_ns = 2'000'000;
  Record record;
  auto summarised = measure::summarise({rank}, trial);
  record.summary = summarised.summary;
  record.steady = summarised.steady;
  record.platform = "p";
  record.started_utc = utc_now();
  record.ranks.push_back(std::move(rank));
  return record;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  const std::string prefix = argc == 6 ? argv[5] : "";
  const auto store = store::open_store(argv[1], store::Access::create);
  std::mt19937_64 random(1);
  std::int64_t store_ns = 0;
  for (const bool second : {false, true}) {
    plan::Campaign campaign;
    campaign.name = prefix + (second ? "after" : "before");
    campaign.runs = std::stoll(argv[3]);
    for (std::int64_t i = 0; i < std::stoll(argv[2]); ++i) campaign.trials.push_back(trial_of(i, prefix));
    store::LeaseRequest request;
    request.campaign = store->plan(campaign, false).campaign;
    request.is_dead = [](const auto&) { return false; };
    for (;;) {
      const std::int64_t asked_ns = monotonic_ns();
      const auto lease = store->lease(request);
      store_ns += monotonic_ns() - asked_ns;
      if (!lease) break;
      // The trial of batch 7 becomes 10 % slower.
      const bool slower = second && lease->runs[0].trial.workload.batch == 7;
      auto record = record_of(lease->runs[0].trial, slower ? 1.1 : 1, std::stoll(argv[4]), random);
      record.campaign = lease->campaign;
      record.trial = lease->runs[0].trial_id;
      record.index = lease->runs[0].index;
      const std::int64_t brought_ns = monotonic_ns();
      if (store->complete(*lease, {{record, false}}) != store::Completion::accepted) return 1;
      store_ns += monotonic_ns() - brought_ns;
    }
  }
  std::cout << 1e-9 * static_cast<double>(store_ns) << "\n";
  return 0;
}
