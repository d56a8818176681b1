// fit_planted FAMILY FIRST LAST CHOOSING: fits planted laws of a family, one line of JSON each; for the first CHOOSING
// of them all families compete. Run by bench/fit_planted.
#include <cmath>
#include <cstdio>
#include <string>

#include "assay/model/fitting/family.hpp"
#include "assay/model/fitting/fit.hpp"
#include "assay/model/prediction.hpp"
#include "bench/programs/planted_law.hpp"

namespace assay::bench {
namespace {

/// exp(mean |ln(said / measured)|) - 1 over the points beyond.
double error_beyond(const model::Law& law, const model::Table& beyond) {
  const model::Evaluator evaluator(law, beyond.factors);
  double sum = 0;
  for (const auto& row : beyond.rows) sum += std::abs(std::log(evaluator.seconds(row.values) / row.seconds));
  return std::expm1(sum / static_cast<double>(beyond.rows.size()));
}

/// By the name of a constant, or by what its term looks like.
const double* truth_of(const PlantedLaw& planted, const model::Model& model, std::size_t constant) {
  auto found = planted.constants.find(model.constants[constant].name);
  const bool is_term = model.family == "terms" && constant < model.law.terms.size();
  if (found == planted.constants.end() && is_term) {
    found = planted.constants.find(model::formula_of_powers(model.law.terms[constant]));
  }
  return found == planted.constants.end() ? nullptr : &found->second;
}

/// Which of the planted constants lie in their interval, where the family was known.
json covered_by(const model::Model& model, const PlantedLaw& planted) {
  json covered = json::object();
  for (std::size_t c = 0; c < model.constants.size(); ++c) {
    const auto& constant = model.constants[c];
    if (const auto* truth = truth_of(planted, model, c)) {
      covered[constant.name] = *truth >= *constant.low && *truth <= *constant.high;
    }
  }
  return covered;
}

json judge(const std::string& family, std::uint64_t seed, bool chooses) {
  const auto planted = plant(family, seed);
  model::FitRequest request;
  request.table = planted.train;
  request.threads = 2;
  request.families = {family};
  const auto own = model::fit(request, [](auto, auto) {});
  json out{{"family", family}, {"seed", seed}, {"covered", covered_by(own, planted)}};
  if (!chooses) return out;
  request.families.clear();
  const auto all = model::fit(request, [](auto, auto) {});
  out["chosen"] = all.family;
  out["error"] = error_beyond(all.law, planted.beyond);
  out["true_family_error"] = error_beyond(own.law, planted.beyond);
  out["coverage_beyond"] = model::score(all, planted.beyond).coverage.value_or(0);
  return out;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  for (int seed = std::stoi(argv[2]); seed <= std::stoi(argv[3]); ++seed) {
    std::printf(
        "%s\n",
        assay::bench::judge(argv[1], static_cast<std::uint64_t>(seed), seed <= std::stoi(argv[4])).dump().c_str());
    std::fflush(stdout);
  }
}
