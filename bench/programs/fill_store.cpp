// A store with two campaigns of the same trials, for figures about reading.
//   fill_store STORE TRIALS RUNS SAMPLES [NAME]: the campaigns are "before" and "after", with NAME in front where it is
//   given, and then of trials of their own. Prints the seconds that the store took to give and to take runs.
#include <iostream>
#include <random>
#include <string>

#include "assay/core/clock.hpp"
#include "assay/store/store.hpp"
#include "made_record.hpp"

int main(int argc, char** argv) {
  using namespace assay;
  if (argc != 5 && argc != 6) return 2;
  const std::string prefix = argc == 6 ? argv[5] : "";
  const auto store = store::open_store(argv[1], store::Access::create);
  std::mt19937_64 random(1);
  std::int64_t store_ns = 0;
  for (const bool second : {false, true}) {
    plan::Campaign campaign;
    campaign.name = prefix + (second ? "after" : "before");
    campaign.runs = std::stoll(argv[3]);
    for (std::int64_t i = 0; i < std::stoll(argv[2]); ++i) campaign.trials.push_back(bench::made_trial(i, prefix));
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
      const auto record = bench::made_record(*lease, slower ? 1.1 : 1, std::stoll(argv[4]), random);
      const std::int64_t brought_ns = monotonic_ns();
      if (store->complete(*lease, {{record, false}}) != store::Completion::accepted) return 1;
      store_ns += monotonic_ns() - brought_ns;
    }
  }
  std::cout << 1e-9 * static_cast<double>(store_ns) << "\n";
  return 0;
}
