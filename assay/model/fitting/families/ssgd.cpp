#include <algorithm>

#include "assay/model/fitting/family.hpp"

namespace assay::model {
namespace {

/// The factors of a table that the physics of a step knows.
struct Known {
  explicit Known(const Table& table) {
    for (const auto& factor : table.factors) names.push_back(factor.name);
  }
  bool has(const char* name) const { return std::find(names.begin(), names.end(), name) != names.end(); }
  std::vector<std::string> names;
};

using Powers = std::vector<Power>;

Powers operator*(Powers powers, const Power& power) {
  powers.push_back(power);
  return powers;
}

/// Synchronous SGD without overlap (1711.05979): t = t_io + t_f + t_b + t_c + t_u. Computing grows with the samples of
/// a step and their FLOPs, and passing on what layers put out with the samples and their activations, as a roofline has
/// it; threads share a part of both. Communication is that of a ring (latency with P - 1, traffic with (P - 1) / P of
/// the gradients); the update grows with the parameters. Processes on one machine also wait for what they share.
class Ssgd : public Family {
 public:
  const char* name() const override { return "ssgd"; }
  bool knows_names() const override { return true; }
  const char* formula() const override {
    return "start + compute(flops, threads) + memory(activations, threads) + update(parameters) + input(batch, chunks) "
           "+ ring(parameters, ranks)";
  }

  std::optional<std::string> refusal(const Table& table) const override {
    const Known known(table);
    if (!known.has("batch") && !known.has("flops")) {
      return "it needs a factor named batch or flops, the work of a step";
    }
    return std::nullopt;
  }

  Law fit(const Table& table, const Effort&) const override { return with_coefficients(terms_for(table), table); }
  Law refit(const Law& law, const Table& table) const override { return with_coefficients(law, table); }
  std::vector<FittedConstant> constants(const Law& law) const override { return coefficients(law); }

 private:
  static Law terms_for(const Table& table) {
    const Known known(table);
    Law law{"ssgd", {{0, {}, "start"}}};
    add_compute(known, law);
    add_input(known, law);
    add_communication(known, law);
    return law;
  }

  static void add_compute(const Known& known, Law& law) {
    Powers work;
    if (known.has("batch")) work.push_back({"batch"});
    if (known.has("flops")) work.push_back({"flops"});
    if (known.has("peak")) work.push_back({"peak", Shape::plain, -1});
    add_shared(known, law, work, "compute");
    if (known.has("activations") && known.has("batch")) {
      Powers passed{{"batch"}, {"activations"}};
      if (known.has("memory_bandwidth")) passed.push_back({"memory_bandwidth", Shape::plain, -1});
      add_shared(known, law, passed, "memory");
    }
    for (const char* crowd : {"instances", "ranks"}) {
      if (known.has(crowd))
        law.terms.push_back({0, work * Power{crowd, Shape::others}, std::string("crowding by ") + crowd});
    }
    if (known.has("depth")) law.terms.push_back({0, {{"depth"}}, "operators"});
    if (known.has("sequence") && known.has("batch")) {
      law.terms.push_back({0, {{"batch"}, {"sequence"}}, "tokens"});
      law.terms.push_back({0, {{"batch"}, {"sequence", Shape::plain, 2}}, "attention"});
    }
    if (known.has("parameters")) law.terms.push_back({0, {{"parameters"}}, "update"});
  }

  /// Work of which threads share a part.
  static void add_shared(const Known& known, Law& law, const Powers& work, const std::string& meaning) {
    law.terms.push_back({0, work, meaning});
    if (!known.has("threads")) return;
    law.terms.push_back({0, work * Power{"threads", Shape::plain, -1}, meaning + " shared"});
  }

  static void add_input(const Known& known, Law& law) {
    if (known.has("batch") && known.has("flops")) law.terms.push_back({0, {{"batch"}}, "input"});
    if (known.has("chunks")) law.terms.push_back({0, {{"chunks"}}, "opening chunks"});
  }

  static void add_communication(const Known& known, Law& law) {
    if (!known.has("ranks")) return;
    Powers latency{{"ranks", Shape::others}};
    if (known.has("link_latency")) latency.push_back({"link_latency"});
    law.terms.push_back({0, latency, "latency"});
    Powers traffic{{"ranks", Shape::share}};
    if (known.has("parameters")) traffic.push_back({"parameters"});
    if (known.has("link_bandwidth")) traffic.push_back({"link_bandwidth", Shape::plain, -1});
    law.terms.push_back({0, traffic, "traffic"});
  }
};

}  // namespace

const Family& ssgd_family() {
  static const Ssgd family;
  return family;
}

}  // namespace assay::model
