#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/core/settings.hpp"
#include "assay/core/workload.hpp"

namespace assay::fake {

/// How long a step of the fake worker takes. README.md says the same in prose and lists the options.
struct Law {
  double base_ns = 200'000;
  double per_sample_ns = 100'000;
  double scale = 1;
  double serial = 0.1;             ///< share of a step that threads do not shorten
  std::int64_t cores = 8;          ///< that the pretended machine has
  std::int64_t width = 2;          ///< operators that can run at once
  std::int64_t intra_most = 4;     ///< threads that one operator can use
  double inter_cost = 0.01;        ///< for each operator run at once beyond the first
  double oversubscription = 0.25;  ///< for each `cores` threads beyond the cores
  double noise = 0.01;             ///< sd of the logarithm, step by step
  double run_noise = 0;            ///< sd of the logarithm, once for a process
  std::int64_t warmup_steps = 0;
  double warmup_extra = 0.5;  ///< of the first step, decaying over warmup_steps
  double slowdown = 0;        ///< of the host, in the second half of every period
  double slowdown_period_ms = 1000;
};

/// Which process draws the noise. The n-th sample is a pure function of this, the law and n.
struct Draw {
  std::int64_t seed = 0;
  std::int64_t rank = 0;
  std::int64_t instance = 0;
};

/// serial + (1 - serial) / u + inter_cost (q - 1) + oversubscription max(0, p q - cores) / cores, where p is intra_op,
/// q is inter_op (null is 1) and u = min(min(p, intra_most) min(q, width), cores).
double threads_factor(const Law& law, const Settings& settings);

/// (base_ns + per_sample_ns batch) mode threads_factor scale, where mode is 3 when training and 1 when inferring.
double typical_ns(const Law& law, const Workload& workload, const Settings& settings);

/// 1 + warmup_extra exp(-5 n / warmup_steps) below warmup_steps, then 1.
double warmup_factor(const Law& law, std::int64_t step);

/// exp(noise z(n) + run_noise z(run)) with standard normal z: its median is 1.
double noise_factor(const Law& law, const Draw& draw, std::int64_t step);

/// 1 + slowdown in the second half of each period of CLOCK_MONOTONIC, else 1: the same for all processes of a host.
double host_factor(const Law& law, std::int64_t now_ns);

/// SplitMix64 (Steele, Lea, Flood 2014) of `state`: the finaliser after one step of the generator.
std::uint64_t splitmix64(std::uint64_t state);

/// Standard normal number `counter` of a stream: Box-Muller on two uniform numbers.
double normal(const Draw& draw, std::uint64_t counter);

/// Splits `total_ns` by percent into `out`, which has the size already. Parts are rounded down and the last one takes
/// what is left, so that the sum is exact.
void split(std::int64_t total_ns, const std::vector<std::int64_t>& percents, std::vector<std::int64_t>& out);

/// The same by weights 1, 2, 3, …: layer i does i / (1 + … + n) of the work.
void split_rising(std::int64_t total_ns, std::vector<std::int64_t>& out);

struct Phases {
  std::vector<std::string> names;
  std::vector<std::int64_t> percents;
};

/// Training: load 5, transfer 5, forward 30, backward 50, update 10. Inferring: load 10, transfer 10, forward 80.
const Phases& phases_of(Mode mode);

}  // namespace assay::fake
