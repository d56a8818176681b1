#include "assay/model/fitting/evolve.hpp"

#include <algorithm>
#include <pagmo/algorithm.hpp>
#include <pagmo/algorithms/de.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>

namespace assay::model {
namespace {

constexpr double kScale = 0.7;       // of a difference that is added
constexpr double kCrossover = 0.9;   // share of numbers taken from the mutant
constexpr unsigned kRandToBest = 8;  // pagmo's number of rand-to-best/1/bin

/// What pagmo asks of a problem. It is copied, so it only points at what the caller owns.
struct CostProblem {
  const std::function<double(const std::vector<double>&)>* cost = nullptr;
  const Box* box = nullptr;

  pagmo::vector_double fitness(const pagmo::vector_double& x) const { return {(*cost)(x)}; }
  std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const { return {box->low, box->high}; }
};

}  // namespace

std::int64_t population_size(std::size_t numbers) {
  return std::max<std::int64_t>(20, 10 * static_cast<std::int64_t>(numbers));
}

std::vector<double> evolve(const std::function<double(const std::vector<double>&)>& cost, const Box& box,
                           std::int64_t evaluations, std::uint64_t seed) {
  const auto size = population_size(box.low.size());
  const auto generations = static_cast<unsigned>(std::max<std::int64_t>(1, evaluations / size - 1));
  const auto small_seed = static_cast<unsigned>(seed);
  const pagmo::problem problem{CostProblem{&cost, &box}};
  pagmo::population population{problem, static_cast<pagmo::population::size_type>(size), small_seed};
  const pagmo::de algorithm{generations, kScale, kCrossover, kRandToBest, 0, 0, small_seed};
  return algorithm.evolve(population).champion_x();
}

}  // namespace assay::model
