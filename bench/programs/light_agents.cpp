// Many agents in one process, each a thread with a connection of its own: they lease runs and bring results as fast as
// the store gives and takes them, and measure nothing. Prints one JSON object.
//   light_agents STORE AGENTS RUNS NAME: plans a campaign NAME of so many runs, and carries it out
#include <atomic>
#include <barrier>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "assay/core/clock.hpp"
#include "assay/core/text/json.hpp"
#include "assay/store/store.hpp"
#include "made_record.hpp"

namespace {

using namespace assay;

constexpr std::int64_t kTrials = 10;
constexpr std::int64_t kSamples = 50;

std::string planned(store::Store& store, const std::string& name, std::int64_t runs) {
  plan::Campaign campaign;
  campaign.name = name;
  campaign.runs = runs / kTrials;
  for (std::int64_t i = 0; i < kTrials; ++i) campaign.trials.push_back(bench::made_trial(i, name));
  return store.plan(campaign, false).campaign;
}

/// What all agents of the process did.
struct Done {
  std::atomic<std::int64_t> accepted = 0;
  std::atomic<std::int64_t> not_accepted = 0;
  std::atomic<std::int64_t> failed = 0;   ///< agents that an error ended
  std::atomic<std::int64_t> last_ns = 0;  ///< when the last result was taken; then each agent looks once more in vain
};

void work(const std::string& location, const std::string& campaign, std::uint64_t number, std::barrier<>& all_are_here,
          Done& done) {
  bool arrived = false;
  try {
    const auto store = store::open_store(location, store::Access::write);
    std::mt19937_64 random(number);
    store::LeaseRequest request;
    request.campaign = campaign;
    request.owner.host = "agent" + std::to_string(number);
    request.is_dead = [](const auto&) { return false; };
    arrived = true;
    all_are_here.arrive_and_wait();
    while (const auto lease = store->lease(request)) {
      const auto answer = store->complete(*lease, {{bench::made_record(*lease, 1, kSamples, random), false}});
      ++(answer == store::Completion::accepted ? done.accepted : done.not_accepted);
      const std::int64_t now_ns = monotonic_ns();
      for (auto last = done.last_ns.load(); last < now_ns && !done.last_ns.compare_exchange_weak(last, now_ns);) {
      }
    }
  } catch (const std::exception& error) {
    if (!arrived) all_are_here.arrive_and_drop();
    if (done.failed++ == 0) std::cerr << error.what() << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto agents = std::stoll(argv[2]);
  const auto campaign = planned(*store::open_store(argv[1], store::Access::create), argv[4], std::stoll(argv[3]));
  Done done;
  std::int64_t began_ns = 0;
  std::barrier all_are_here(static_cast<std::ptrdiff_t>(agents) + 1);
  std::vector<std::jthread> threads;
  for (std::int64_t i = 0; i < agents; ++i) {
    threads.emplace_back([&, i] { work(argv[1], campaign, static_cast<std::uint64_t>(i), all_are_here, done); });
  }
  all_are_here.arrive_and_wait();
  began_ns = monotonic_ns();
  threads.clear();
  std::cout << json{{"seconds", 1e-9 * static_cast<double>(done.last_ns - began_ns)},
                    {"accepted", done.accepted.load()},
                    {"not_accepted", done.not_accepted.load()},
                    {"failed_agents", done.failed.load()}}
            << "\n";
  return 0;
}
