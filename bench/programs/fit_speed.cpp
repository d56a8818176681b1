// fit_speed ours | bare | table N: run by bench/fit_speed.
//   ours, bare   seconds and cost of one generic fit of the planted law 1, by Assay and by pagmo2 without it
//   table N      the N rows of planted laws as CSV, without fitting
#include <chrono>
#include <cmath>
#include <cstdio>
#include <pagmo/algorithm.hpp>
#include <pagmo/algorithms/de.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>
#include <string>

#include "assay/model/fitting/evolve.hpp"
#include "assay/model/fitting/family.hpp"
#include "assay/model/fitting/generic_form.hpp"
#include "bench/programs/planted_law.hpp"

namespace assay::bench {
namespace {

constexpr std::int64_t kEvaluations = 80'000;
constexpr double kPenalty = 1e-3;

/// The same cost, as a user of pagmo2 would write it down.
struct BareProblem {
  const model::GenericForm* form = nullptr;
  pagmo::vector_double fitness(const pagmo::vector_double& x) const { return {form->cost(x, kPenalty)}; }
  std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const {
    const auto box = form->box();
    return {box.low, box.high};
  }
};

void fit_bare(const model::Table& table) {
  const model::GenericForm form(table);
  pagmo::population population{pagmo::problem{BareProblem{&form}},
                               static_cast<unsigned>(model::population_size(static_cast<std::size_t>(form.size()))), 1};
  const auto generations = static_cast<unsigned>(kEvaluations / static_cast<std::int64_t>(population.size()) - 1);
  population = pagmo::de{generations, 0.7, 0.9, 8, 0, 0, 1}.evolve(population);
  std::fprintf(stderr, "%g\n", population.champion_f()[0]);
}

int measure(const std::string& what) {
  const auto planted = plant("generic", 1);
  const auto begin = std::chrono::steady_clock::now();
  if (what == "bare") {
    fit_bare(planted.train);
  } else {
    static_cast<void>(model::generic_family().fit(planted.train, {kEvaluations, kPenalty, 1}));
  }
  std::printf("%.9f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return 0;
}

int print_table(std::size_t rows) {
  std::string header;
  std::size_t printed = 0;
  for (std::uint64_t seed = 1; printed < rows; ++seed) {
    const auto planted = plant("generic", seed);
    if (header.empty()) {
      for (const auto& factor : planted.train.factors) header += factor.name + ",";
      std::printf("%sseconds\n", header.c_str());
    }
    for (const auto& row : planted.train.rows) {
      if (printed++ >= rows) break;
      // Laws of several seeds, made distinct points by a small change that keeps their order.
      for (const double value : row.values) std::printf("%.9g,", value * (1 + 1e-3 * static_cast<double>(seed % 50)));
      std::printf("%.9g\n", row.seconds);
    }
  }
  return 0;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "ours" || what == "bare") return assay::bench::measure(what);
  if (what == "table" && argc == 3) return assay::bench::print_table(std::stoul(argv[2]));
  return 2;
}
