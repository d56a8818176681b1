// Our search, random search and every guide alone on synthetic surfaces whose optimum is known. Prints JSON lines.
//   tune_surfaces judge FIRST LAST RUNS...    slowdowns against the optimum, a line for each surface
//   tune_surfaces surface SEED                candidates and true costs, for a search of another program
#include <chrono>
#include <iostream>
#include <string>

#include "assay/core/text/json.hpp"
#include "surface.hpp"

namespace {

using assay::json;

std::size_t random_search(const bench::Surface& surface, std::int64_t runs, std::uint64_t seed) {
  bench::NoisyObjective objective(surface, seed);
  std::mt19937_64 random(seed + 1);
  std::size_t best = surface.seeds.front();
  double least = 1e300;
  for (std::int64_t i = 0; i < runs; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto candidate = at < surface.seeds.size() ? surface.seeds[at] : random() % surface.candidates.size();
    const double cost = objective.evaluate(candidate);
    if (cost < least) {
      least = cost;
      best = candidate;
    }
  }
  return best;
}

json judged(const bench::Surface& surface, const std::vector<std::int64_t>& budgets) {
  const auto noise_seed = static_cast<std::uint64_t>(surface.seed) * 7919;
  json out = {{"seed", surface.seed},       {"cores", surface.machine.cores}, {"candidates", surface.candidates.size()},
              {"rough", surface.law.rough}, {"ours", json::object()},         {"random", json::object()},
              {"guides", json::object()}};
  for (const auto runs : budgets) {
    const auto key = std::to_string(runs);
    bench::NoisyObjective objective(surface, noise_seed);
    const auto began = std::chrono::steady_clock::now();
    const auto found = assay::tune::search(surface.problem(runs), objective);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    out["ours"][key] = surface.slowdown(found.best);
    double reached = 1e300;
    for (std::size_t i = 0; i < found.measured.size(); ++i) {
      if (!found.measured[i].empty()) reached = std::min(reached, surface.slowdown(i));
    }
    out["measured_best"][key] = reached;
    out["seconds"][key] = took.count();
    out["runs"][key] = objective.spent().runs;
    out["random"][key] = surface.slowdown(random_search(surface, runs, noise_seed));
  }
  for (std::size_t i = 0; i < surface.guides.size(); ++i) {
    out["guides"][surface.guides[i]] = surface.slowdown(surface.seeds[i]);
  }
  return out;
}

json table(const bench::Surface& surface) {
  json out = {{"seed", surface.seed},   {"noise", surface.noise},      {"cores", surface.machine.cores},
              {"seeds", surface.seeds}, {"candidates", json::array()}, {"costs", surface.costs}};
  for (const auto& k : surface.candidates) {
    out["candidates"].push_back({k.instances, k.inter_op, k.intra_op, static_cast<int>(k.affinity),
                                 static_cast<int>(k.memory_bind), static_cast<int>(k.allocator), k.spin ? 1 : 0});
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "surface" && argc == 3) {
    std::cout << table(bench::make_surface(std::stoll(argv[2]))).dump() << "\n";
    return 0;
  }
  if (verb != "judge" || argc < 5) {
    std::cerr << "usage: tune_surfaces judge FIRST LAST RUNS... | surface SEED\n";
    return 2;
  }
  std::vector<std::int64_t> budgets;
  for (int i = 4; i < argc; ++i) budgets.push_back(std::stoll(argv[i]));
  for (std::int64_t seed = std::stoll(argv[2]); seed <= std::stoll(argv[3]); ++seed) {
    std::cout << judged(bench::make_surface(seed), budgets).dump() << std::endl;
  }
  return 0;
}
