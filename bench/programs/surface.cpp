#include "surface.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace bench {
namespace {

/// The smaller of two, without a corner.
double soft_min(double a, double b) {
  return std::pow(std::pow(a, -4) + std::pow(b, -4), -0.25);
}

/// What all decisions of a surface are drawn from. Own formulas: those of the library differ between libraries.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }
  double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  template <typename T>
  T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(random_() % values.size())];
  }

 private:
  std::mt19937_64 random_;
};

Machine draw_machine(Draw& draw) {
  static const std::vector<Machine> kMachines{
      {1, 1, 16, 16},  {1, 1, 16, 32},  {1, 2, 24, 48},   {2, 2, 24, 24},   {1, 1, 32, 64},   {2, 2, 32, 64},
      {2, 2, 48, 96},  {1, 4, 48, 48},  {1, 1, 64, 128},  {2, 2, 64, 64},   {2, 4, 64, 128},  {2, 2, 72, 144},
      {1, 4, 96, 192}, {2, 4, 96, 192}, {2, 8, 128, 256}, {1, 1, 128, 128}, {2, 2, 160, 160}, {2, 8, 192, 384}};
  return draw.one_of(kMachines);
}

Law draw_law(Draw& draw, const Machine& machine, bool rough) {
  Law law;
  law.throughput = draw.uniform(0, 1) < 0.5;
  law.rough = rough;
  law.width = draw.uniform(0, 1) < 0.4 ? draw.uniform(1, 1.3) : draw.uniform(1.3, 5);
  law.pool_cost = draw.uniform(0.01, 0.06);
  law.serial = draw.log_uniform(0.002, 0.1);
  law.widest = draw.log_uniform(6, 1.5 * machine.cores);
  law.blocks = draw.one_of<int>({12, 16, 24, 32, 48, 64, 96});
  law.memory = draw.log_uniform(0.02, 0.5);
  law.saturation = draw.uniform(0.15, 0.7);
  law.sharing = draw.uniform(0, 0.15);
  law.remote = draw.uniform(0.1, 0.6);
  law.sync = draw.log_uniform(0.0002, 0.008);
  law.crossing = rough ? draw.uniform(0.15, 0.6) : draw.uniform(0.02, 0.12);
  law.hyper_gain = draw.uniform(-0.05, 0.35);
  law.hyper_cost = rough ? draw.uniform(0.05, 0.35) : 0;
  law.oversubscribed = draw.uniform(0.1, 0.6);
  law.migration = draw.uniform(0.01, 0.1);
  law.allocation = draw.uniform(0, 0.12);
  law.tcmalloc = draw.uniform(0, 0.04);
  law.jemalloc = draw.uniform(0, 0.04);
  law.spin_gain = draw.uniform(0.3, 0.9);
  law.spin_cost = draw.uniform(0.05, 0.5);
  return law;
}

/// Share of an instance's threads that are away from the node of the first: 0 where it stays within a node.
double away(const Machine& m, const Knobs& k) {
  const double per_node = static_cast<double>(m.cores) / m.nodes;
  const double team = k.inter_op * k.intra_op;
  if (m.nodes == 1) return 0;
  if (k.affinity == Pin::spread && k.instances < m.nodes) return 1 - static_cast<double>(k.instances) / m.nodes;
  if (k.affinity == Pin::none) return 1 - std::min(1.0, per_node / team) * 0.8;
  if (team > per_node) return 1 - per_node / team;
  // Teams that do not fill a node evenly: one of them lies across the border.
  const bool fits = std::fmod(per_node, team) == 0 || k.threads() <= per_node;
  return fits ? 0 : 0.25;
}

/// Seconds that the memory's share of the work takes, in units of the work on one thread.
double memory_time(const Machine& m, const Law& law, const Knobs& k, double active, double far) {
  const double instances_on_node = std::max(1.0, static_cast<double>(k.instances) / m.nodes);
  const double share = law.memory * (1 + law.sharing * std::log2(1 + instances_on_node));
  const double node = law.saturation * m.cores / m.nodes;
  double reached = std::min<double>(m.nodes, std::max(1.0, 1 + far * (m.nodes - 1) * 0.5));
  double distance = 1 + law.remote * far;
  if (k.memory_bind == Bind::interleave) {
    reached = m.nodes;
    distance = 1 + law.remote * (m.nodes - 1) / m.nodes;
  } else if (k.memory_bind == Bind::local && far == 0) {
    distance = 0.97;
  } else if (k.memory_bind == Bind::none && k.instances > 1 && m.nodes > 1) {
    distance += law.remote * (k.affinity == Pin::none ? 0.4 : 0.08);
  }
  const double on_same = std::max(1.0, k.instances * reached / m.nodes);
  const double bandwidth = std::max(node * reached / on_same, 0.05);
  return share * distance / soft_min(active, bandwidth);
}

/// What a thread gets of a core, with everything that runs at once.
double speed_of_thread(const Machine& m, const Law& law, double running) {
  if (running <= m.cores) return 1;
  const double capacity = m.cores + law.hyper_gain * (std::min<double>(running, m.threads) - m.cores);
  const double excess = std::max(1.0, running / m.threads);
  return std::max(capacity, 0.5 * m.cores) / running / std::pow(excess, law.oversubscribed);
}

double operator_time(const Law& law, const Knobs& k) {
  if (law.rough) {
    const double rounds = std::ceil(static_cast<double>(law.blocks) / k.intra_op);
    const double wide = std::max(rounds / law.blocks, 1 / soft_min(k.intra_op, 2 * law.widest));
    return law.serial + (1 - law.serial) * wide;
  }
  return law.serial + (1 - law.serial) / soft_min(k.intra_op, law.widest);
}

double log_cost(const Machine& m, const Law& law, const Knobs& k) {
  const double at_once = soft_min(k.inter_op, law.width);
  const double active = at_once * k.intra_op;
  const double running = k.spin ? 0.5 * (k.threads() + k.instances * active) : k.instances * active;
  const double far = away(m, k);
  double time = (1 - law.memory) * operator_time(law, k) / at_once / speed_of_thread(m, law, running);
  time += memory_time(m, law, k, active, far);
  const double crossed = far == 0 ? 0 : law.rough ? law.crossing : 2 * law.crossing * far;
  time += law.sync * std::log2(1.0 * k.intra_op) * (k.spin ? law.spin_gain : 1) * (1 + 3 * crossed) / at_once;
  time *= 1 + crossed;
  time *= 1 + law.pool_cost * (k.inter_op - 1);
  if (running > m.cores) time *= 1 + law.hyper_cost;
  if (k.affinity == Pin::none) time *= 1 + law.migration;
  if (k.affinity != Pin::none && k.threads() > m.threads) time *= 1 + 2 * law.migration;
  if (k.affinity == Pin::spread && far == 0) time *= 0.99;
  if (k.spin && k.threads() > m.cores) {
    time *= 1 + law.spin_cost * std::min(1.0, std::log2(k.threads() / static_cast<double>(m.cores)));
  }
  const double wide = std::log2(1.0 + k.inter_op * k.intra_op) / 6;
  const double own[] = {law.allocation * wide, law.tcmalloc, law.jemalloc};
  time *= 1 + own[static_cast<int>(k.allocator)];
  return std::log(law.throughput ? time / k.instances : time);
}

std::vector<int> thread_counts(int most) {
  std::vector<int> out;
  for (const int n : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384}) {
    if (n <= most) out.push_back(n);
  }
  return out;
}

/// Every combination of categories that makes sense on the machine: memory is bound only where there are nodes.
void add_categories(const Machine& m, Knobs knobs, std::vector<Knobs>& out) {
  for (const auto pin : {Pin::none, Pin::compact, Pin::spread}) {
    for (const auto bind : {Bind::none, Bind::local, Bind::interleave}) {
      if (m.nodes == 1 && bind != Bind::none) continue;
      if (pin == Pin::none && bind == Bind::local) continue;
      for (const auto allocator : {Malloc::system, Malloc::tcmalloc, Malloc::jemalloc}) {
        for (const bool spin : {false, true}) {
          knobs.affinity = pin;
          knobs.memory_bind = bind;
          knobs.allocator = allocator;
          knobs.spin = spin;
          out.push_back(knobs);
        }
      }
    }
  }
}

std::vector<Knobs> enumerate(const Machine& m) {
  std::vector<Knobs> out;
  std::set<int> instances{1, m.nodes, 2 * m.nodes};
  for (int n = 2; n <= m.cores; n *= 2) instances.insert(n);
  for (const int instance : instances) {
    for (const int inter : {1, 2, 3, 4, 6}) {
      for (const int intra : thread_counts(m.threads)) {
        Knobs knobs;
        knobs.instances = instance;
        knobs.inter_op = inter;
        knobs.intra_op = intra;
        const bool near = 2 * knobs.threads() >= m.cores && knobs.threads() <= 2 * m.cores;
        if (near || (instance == 1 && inter == 1)) add_categories(m, knobs, out);
      }
    }
  }
  return out;
}

/// The named guides as they resolve on a machine, and the paper's rule (pools = width) with 1, 2, 4, … instances: these
/// for throughput alone, since more instances never make one of them faster.
std::vector<std::pair<std::string, Knobs>> guides(const Machine& m, const Law& law) {
  const auto local = m.nodes > 1 ? Bind::local : Bind::none;
  const int pools = std::max(1, static_cast<int>(std::lround(law.width)));
  const int per_node = m.cores / m.nodes;
  std::vector<std::pair<std::string, Knobs>> out{
      {"framework-default", {1, 1, m.cores, Pin::none, Bind::none, Malloc::system, true}},
      {"tf-guide-eigen", {1, m.cores, m.cores, Pin::none, Bind::none, Malloc::system, false}},
      {"tf-guide-mkl", {1, m.sockets, m.cores, Pin::compact, Bind::none, Malloc::system, false}},
      {"intel-guide", {m.nodes, m.sockets, per_node, Pin::compact, local, Malloc::system, false}},
      {"paper", {1, pools, std::max(1, m.cores / pools), Pin::compact, Bind::none, Malloc::system, true}},
      {"xeon-latency", {m.cores / 4, 1, 4, Pin::compact, local, Malloc::tcmalloc, true}},
      {"xeon-throughput", {m.nodes, 1, per_node, Pin::compact, local, Malloc::tcmalloc, true}},
      {"ort-default", {1, 1, m.cores, Pin::compact, Bind::none, Malloc::system, true}},
      {"mxnet-guide", {1, 1, std::max(1, m.threads / 2), Pin::compact, Bind::none, Malloc::system, false}}};
  for (int instances = 2; law.throughput && instances * pools <= m.cores; instances *= 2) {
    out.push_back({"", {instances, pools, m.cores / pools / instances, Pin::compact, local, Malloc::system, true}});
  }
  return out;
}

}  // namespace

Surface make_surface(std::int64_t seed) {
  Draw draw(static_cast<std::uint64_t>(seed) * 0x9E3779B97F4A7C15u);
  Surface out;
  out.seed = seed;
  out.machine = draw_machine(draw);
  out.law = draw_law(draw, out.machine, seed % 2 == 0);
  out.noise = draw.uniform(0.01, 0.04);
  out.candidates = enumerate(out.machine);
  for (const auto& [name, knobs] : guides(out.machine, out.law)) {
    auto at = std::find(out.candidates.begin(), out.candidates.end(), knobs);
    if (at == out.candidates.end()) at = out.candidates.insert(at, knobs);
    if (!name.empty()) out.guides.push_back(name);
    out.seeds.push_back(static_cast<std::size_t>(at - out.candidates.begin()));
  }
  for (const auto& knobs : out.candidates) out.costs.push_back(log_cost(out.machine, out.law, knobs));
  return out;
}

double Surface::optimum() const {
  return *std::min_element(costs.begin(), costs.end());
}

double Surface::slowdown(std::size_t candidate) const {
  return std::expm1(costs[candidate] - optimum());
}

assay::tune::Problem Surface::problem(std::int64_t runs) const {
  assay::tune::Problem out;
  for (const auto& k : candidates) {
    const auto is = [](bool value) { return value ? 1.0 : 0.0; };
    out.candidates.push_back({std::log2(k.instances), std::log2(k.inter_op), std::log2(k.intra_op),
                              std::log2(static_cast<double>(k.threads()) / machine.cores),
                              is(k.affinity == Pin::compact), is(k.affinity == Pin::spread),
                              is(k.memory_bind == Bind::local), is(k.memory_bind == Bind::interleave),
                              is(k.allocator == Malloc::tcmalloc), is(k.allocator == Malloc::jemalloc), is(k.spin)});
  }
  out.seeds = seeds;
  out.budget.runs = runs;
  return out;
}

double NoisyObjective::evaluate(std::size_t candidate) {
  std::normal_distribution<double> normal(0, surface_.noise);
  std::uniform_real_distribution<double> uniform;
  double value = surface_.costs[candidate] + normal(random_);
  if (uniform(random_) < 0.05) value += std::log(1.2 + 0.8 * uniform(random_));
  return value;
}

std::vector<std::optional<double>> NoisyObjective::measure(const std::vector<std::size_t>& candidates) {
  std::vector<std::optional<double>> out;
  for (const auto candidate : candidates) out.emplace_back(evaluate(candidate));
  runs_ += static_cast<std::int64_t>(candidates.size());
  return out;
}

std::vector<double> NoisyObjective::race(std::size_t a, std::size_t b, std::int64_t pairs) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double of_a = evaluate(a);
    out.push_back(evaluate(b) - of_a);
  }
  runs_ += 2 * pairs;
  return out;
}

}  // namespace bench
