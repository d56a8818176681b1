// categorical FAMILY FIRST LAST [shared]: fits planted laws whose levels share some constants and not others, one line
// of JSON each. With `shared` the fit is told of no levels, as if everything were shared. Run by bench/categorical.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>

#include "assay/model/fitting/fit.hpp"

namespace assay::bench {
namespace {

using model::Role;

constexpr std::size_t kTrain = 300;
constexpr std::size_t kHeldOut = 200;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform(0, 1))) * std::cos(6.283185307179586 * uniform(0, 1)); }
  std::size_t below(std::size_t n) { return engine_() % n; }

 private:
  std::mt19937_64 engine_;
};

struct PlantedConstant {
  std::string name;
  bool exponent = false;
  double least = 0;
  double most = 0;
};

struct Axis {
  model::Factor factor;
  std::vector<double> levels;
};

/// A kind of law, with formulas of its own: the seconds of values x under constants c.
struct Kind {
  std::vector<PlantedConstant> constants;
  std::vector<Axis> axes;
  double (*seconds)(const std::vector<double>& c, const std::vector<double>& x);
};

Kind generic_kind() {
  return {{{"a", false, 0.02, 0.1},
           {"q_depth", true, 0.6, 1.2},
           {"q_batch", true, 0.5, 1},
           {"q_threads", true, -0.9, -0.4},
           {"C", false, 0.3, 1.5}},
          {{{"depth", Role::intrinsic}, {2, 4, 8, 16, 32}},
           {{"batch", Role::extrinsic}, {1, 2, 4, 8, 16, 32}},
           {{"threads", Role::parallel}, {1, 2, 4, 8}}},
          [](const std::vector<double>& c, const std::vector<double>& x) {
            return c[0] * std::pow(x[0], c[1]) * std::pow(x[1], c[2]) * std::pow(x[2], c[3]) + c[4];
          }};
}

Kind ssgd_kind() {
  return {{{"start", false, 1e-3, 3e-3},
           {"compute", false, 2e-13, 6e-13},
           {"compute shared", false, 1e-12, 4e-12},
           {"update", false, 5e-10, 2e-9}},
          {{{"batch", Role::extrinsic}, {1, 2, 4, 8, 16, 32}},
           {{"flops", Role::intrinsic}, {2.5e8, 5e8, 1e9, 2e9, 4e9}},
           {{"threads", Role::parallel}, {1, 2, 4, 8}},
           {{"parameters", Role::intrinsic}, {1e6, 3e6, 8e6, 2.5e7, 6e7}}},
          [](const std::vector<double>& c, const std::vector<double>& x) {
            return c[0] + c[1] * x[0] * x[1] + c[2] * x[0] * x[1] / x[2] + c[3] * x[3];
          }};
}

struct Planted {
  std::vector<std::string> names;
  std::set<std::string> own;
  std::vector<std::vector<double>> constants;  ///< by level
  model::Table train;
  model::Table held_out;  ///< times without noise, half of them at twice the largest of the first factor
};

/// Where levels differ, they do by a third of a coefficient or more, and by 0.15 of an exponent or more.
void plant_constants(const Kind& kind, Dice& dice, Planted& law) {
  for (const auto& constant : kind.constants) {
    const bool own = dice.below(2) == 0;
    if (own) law.own.insert(constant.name);
    const double base = dice.uniform(constant.least, constant.most);
    const auto first = dice.below(law.names.size());
    for (std::size_t level = 0; level < law.names.size(); ++level) {
      const auto place = static_cast<double>((first + level) % law.names.size());
      const double apart = own ? place * dice.uniform(1, 1.2) : 0;
      law.constants[level].push_back(constant.exponent ? base + 0.18 * apart : base * std::pow(1.4, apart));
    }
  }
}

Planted plant(const Kind& kind, std::uint64_t seed) {
  Dice dice(seed);
  Planted law;
  law.names = {"jax", "pytorch", "tensorflow"};
  if (dice.below(2) == 0) law.names.pop_back();
  law.constants.resize(law.names.size());
  plant_constants(kind, dice, law);
  const double noise = dice.uniform(0.01, 0.03);
  law.train.factors.push_back({"framework", Role::extrinsic, law.names});
  for (const auto& axis : kind.axes) law.train.factors.push_back(axis.factor);
  law.held_out.factors = law.train.factors;
  for (std::size_t i = 0; i < kTrain + kHeldOut; ++i) {
    const auto level = dice.below(law.names.size());
    std::vector<double> x;
    for (const auto& axis : kind.axes) x.push_back(axis.levels[dice.below(axis.levels.size())]);
    const bool held_out = i >= kTrain;
    if (held_out && i % 2 == 0) x[0] = 2 * kind.axes[0].levels.back();
    double seconds = kind.seconds(law.constants[level], x);
    if (!held_out) seconds *= std::exp(noise * dice.normal());
    x.insert(x.begin(), static_cast<double>(level + 1));
    (held_out ? law.held_out : law.train).rows.push_back({x, seconds});
  }
  return law;
}

model::Model fitted(const std::string& family, const model::Table& table, std::int64_t draws) {
  model::FitRequest request;
  request.table = table;
  request.families = {family};
  request.evaluations = 4000;
  request.draws = draws;
  return model::fit(request, [](auto, auto) {});
}

model::Table without_levels(const model::Table& table) {
  model::Table all;
  for (std::size_t level = 1; level <= table.factors.front().names->size(); ++level) {
    const auto some = model::rows_at(table, 0, static_cast<double>(level));
    all.factors = some.factors;
    all.rows.insert(all.rows.end(), some.rows.begin(), some.rows.end());
  }
  return all;
}

double log_errors(const model::Law& law, const model::Table& table) {
  const model::Evaluator evaluator(law, table.factors);
  double sum = 0;
  for (const auto& row : table.rows) sum += std::abs(std::log(evaluator.seconds(row.values) / row.seconds));
  return sum;
}

/// How far off times held out are, as a share: by one law, and by a law for each level fitted apart.
double error_of(double log_errors) {
  return std::expm1(log_errors / static_cast<double>(kHeldOut));
}

double apart_error(const std::string& family, const model::Table& train, const model::Table& held_out) {
  double sum = 0;
  for (std::size_t level = 1; level <= train.factors.front().names->size(); ++level) {
    const auto place = static_cast<double>(level);
    sum += log_errors(fitted(family, model::rows_at(train, 0, place), 0).law, model::rows_at(held_out, 0, place));
  }
  return error_of(sum);
}

/// Whether each planted constant is in its interval, of those that were recognised as own or shared.
json covered_by(const model::Model& model, const Kind& kind, const Planted& law) {
  json covered = json::array();
  for (const auto& constant : model.constants) {
    for (std::size_t c = 0; c < kind.constants.size(); ++c) {
      const auto& name = kind.constants[c].name;
      if (name != constant.name || constant.level.empty() == (law.own.count(name) == 1)) continue;
      const auto at = std::find(law.names.begin(), law.names.end(), constant.level);
      const double truth =
          law.constants[at == law.names.end() ? 0 : static_cast<std::size_t>(at - law.names.begin())][c];
      covered.push_back(*constant.low <= truth && truth <= *constant.high);
    }
  }
  return covered;
}

json judge(const std::string& family, std::uint64_t seed, bool all_shared) {
  const auto kind = family == "generic" ? generic_kind() : ssgd_kind();
  const auto law = plant(kind, seed);
  auto train = law.train;
  auto held_out = law.held_out;
  auto half = law.train;
  half.rows.resize(kTrain / 2);
  const auto apart = apart_error(family, train, held_out);
  const auto apart_half = apart_error(family, half, held_out);
  if (all_shared) {
    train = without_levels(train);
    half = without_levels(half);
    held_out = without_levels(held_out);
  }
  const auto model = fitted(family, train, 200);
  const std::set<std::string> own(model.law.own.begin(), model.law.own.end());
  return {{"family", family},
          {"seed", seed},
          {"planted", law.own},
          {"found", own},
          {"right", own == law.own},
          {"covered", covered_by(model, kind, law)},
          {"error", error_of(log_errors(model.law, held_out))},
          {"apart", apart},
          {"half_error", error_of(log_errors(fitted(family, half, 0).law, held_out))},
          {"half_apart", apart_half}};
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  for (int seed = std::stoi(argv[2]); seed <= std::stoi(argv[3]); ++seed) {
    const auto line = assay::bench::judge(argv[1], static_cast<std::uint64_t>(seed), argc == 5);
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }
}
