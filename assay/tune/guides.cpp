#include "assay/tune/guides.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/error.hpp"

namespace assay::tune {
namespace {

constexpr const char* kFineCompact = "granularity=fine,compact,1,0";
constexpr std::int64_t kCoresOfSmallInstance = 4;

/// A number that a guide gives in terms of the machine or the network.
enum class Count {
  unset,
  sockets,
  nodes,
  cores,
  cores_of_socket,
  cores_of_node,
  half_of_threads,
  pools,  ///< the width of the network, rounded
  cores_of_pool,
  small_instances,  ///< of 4 cores each
  cores_of_small_instance,
};

/// A guide as data. What is empty or unset, it leaves to the framework.
struct Guide {
  const char* name;
  const char* says;
  std::vector<std::string> workers;
  Count instances = Count::unset;
  Count inter_op = Count::unset;
  Count intra_op = Count::unset;
  Count library_threads = Count::unset;
  bool bound = false;           ///< each instance to its CPUs and the memory beside them
  bool fast_allocator = false;  ///< tcmalloc, else jemalloc
  std::map<std::string, std::string> env = {};
  const char* inert = nullptr;  ///< why all of it does nothing here, where it does
};

const std::vector<Guide>& guides() {
  using C = Count;
  static const std::map<std::string, std::string> kSleepAtOnce{{"KMP_AFFINITY", kFineCompact}, {"KMP_BLOCKTIME", "0"}};
  static const std::map<std::string, std::string> kSleepSoon{{"KMP_AFFINITY", kFineCompact}, {"KMP_BLOCKTIME", "1"}};
  static const std::map<std::string, std::string> kPaper{{"KMP_AFFINITY", kFineCompact}, {"KMP_BLOCKTIME", "30"}};
  static const std::vector<Guide> all{
      {"framework-default", "nothing is set", {}},
      {.name = "tf-guide-eigen",
       .says = "TensorFlow's guide, Eigen build: inter_op = intra_op = cores",
       .workers = {"tensorflow"},
       .inter_op = C::cores,
       .intra_op = C::cores},
      {.name = "tf-guide-mkl",
       .says = "TensorFlow's guide, MKL build: inter_op = sockets, intra_op = OMP_NUM_THREADS = cores",
       .workers = {"tensorflow"},
       .inter_op = C::sockets,
       .intra_op = C::cores,
       .library_threads = C::cores,
       .env = kSleepAtOnce},
      {.name = "intel-guide",
       .says =
           "Intel's guide: an instance for each NUMA node, bound; inter_op = sockets, intra_op = cores of a socket, "
           "OMP_NUM_THREADS = cores of the node",
       .workers = {},
       .instances = C::nodes,
       .inter_op = C::sockets,
       .intra_op = C::cores_of_socket,
       .library_threads = C::cores_of_node,
       .bound = true,
       .env = kSleepSoon},
      {.name = "paper",
       .says = "arXiv 1908.04705: inter_op = width of the graph, intra_op = library threads = cores / inter_op",
       .workers = {},
       .inter_op = C::pools,
       .intra_op = C::cores_of_pool,
       .library_threads = C::cores_of_pool,
       .env = kPaper},
      {.name = "xeon-latency",
       .says = "torch's launcher for Xeon, latency: instances of 4 cores, bound, with tcmalloc or jemalloc",
       .workers = {},
       .instances = C::small_instances,
       .library_threads = C::cores_of_small_instance,
       .bound = true,
       .fast_allocator = true,
       .env = kSleepSoon},
      {.name = "xeon-throughput",
       .says =
           "torch's launcher for Xeon, throughput: an instance for each NUMA node, bound, with tcmalloc or jemalloc",
       .workers = {},
       .instances = C::nodes,
       .library_threads = C::cores_of_node,
       .bound = true,
       .fast_allocator = true,
       .env = kSleepSoon},
      {"openvino-latency", "OpenVINO's hint LATENCY, which the worker gives where nothing is set", {"openvino"}},
      {.name = "openvino-throughput",
       .says = "OpenVINO's hint THROUGHPUT: as many requests in flight as it finds best",
       .workers = {"openvino"},
       .inert =
           "hint THROUGHPUT: a step is one request, and the hint acts on requests in flight; instances take its place"},
      {"ort-default",
       "ONNX Runtime's own: a pinned thread for each core, spinning, one operator at a time",
       {"onnxruntime"}},
      {.name = "mxnet-guide",
       .says = "MXNet's guide: OMP_NUM_THREADS = half of the logical CPUs",
       .workers = {"mxnet"},
       .library_threads = C::half_of_threads,
       .env = {{"KMP_AFFINITY", kFineCompact}}},
  };
  return all;
}

std::optional<std::int64_t> resolve(Count count, const GuideInput& situation) {
  const auto& r = situation.resources;
  const auto by = [](std::int64_t whole, std::int64_t part) { return std::max<std::int64_t>(whole / part, 1); };
  switch (count) {
    case Count::unset:
      return {};
    case Count::sockets:
      return r.sockets;
    case Count::nodes:
      return r.nodes;
    case Count::cores:
      return r.cores;
    case Count::cores_of_socket:
      return by(r.cores, r.sockets);
    case Count::cores_of_node:
      return by(r.cores, r.nodes);
    case Count::half_of_threads:
      return by(r.threads, 2);
    case Count::pools:
      return pools_of(situation);
    case Count::cores_of_pool:
      return by(r.cores, pools_of(situation));
    case Count::small_instances:
      return by(r.cores, kCoresOfSmallInstance);
    case Count::cores_of_small_instance:
      return std::min(r.cores, kCoresOfSmallInstance);
  }
  ASSAY_CHECK(false);
}

Settings resolve(const Guide& guide, const GuideInput& situation) {
  Settings s;
  s.instances = resolve(guide.instances, situation);
  s.inter_op = resolve(guide.inter_op, situation);
  s.intra_op = resolve(guide.intra_op, situation);
  s.library_threads = resolve(guide.library_threads, situation);
  if (guide.bound) {
    s.affinity = Affinity::compact;
    s.memory_bind = MemoryBind::local;
  }
  if (guide.fast_allocator) {
    s.allocator = situation.allocators.empty() ? Allocator::tcmalloc : situation.allocators.front();
  }
  s.env = guide.env;
  return s;
}

/// Drops a number that the worker does not follow, and says so.
void keep_followed(const plan::WorkerInfo& worker, const char* name, std::optional<std::int64_t>& value,
                   std::vector<std::string>& inert) {
  if (!value || applies(worker, name)) return;
  const auto why = worker.inert.find(name);
  inert.push_back(fmt::format("{}={}: {}", name, *value,
                              why == worker.inert.end() ? "the worker has no such setting" : why->second));
  value.reset();
}

Baseline on_worker(const Advice& advised, const plan::WorkerInfo& worker, const GuideInput& situation) {
  Baseline out{advised.guide, advised.says, advised.settings, advised.inert};
  auto& s = out.settings;
  // Where OpenMP computes the operators, its threads and those of an operator are the same ones.
  if (s.library_threads && applies(worker, "library_threads") && applies(worker, "intra_op")) {
    s.intra_op = s.library_threads;
    s.library_threads.reset();
  }
  keep_followed(worker, "inter_op", s.inter_op, out.inert);
  keep_followed(worker, "intra_op", s.intra_op, out.inert);
  keep_followed(worker, "library_threads", s.library_threads, out.inert);
  if (s.allocator && situation.allocators.empty()) {
    out.inert.emplace_back("allocator: neither tcmalloc nor jemalloc is installed");
    s.allocator.reset();
  }
  for (const auto& [name, why] : worker.unread) {
    const auto variable = s.env.find(name);
    if (variable == s.env.end()) continue;
    out.inert.push_back(fmt::format("{}={}: {}", name, variable->second, why));
    s.env.erase(variable);
  }
  s = canonical(s, situation.resources);
  return out;
}

}  // namespace

bool applies(const plan::WorkerInfo& worker, const std::string& setting) {
  const auto& list = worker.settings;
  return std::find(list.begin(), list.end(), setting) != list.end() ||
         std::find(list.begin(), list.end(), "*") != list.end();
}

std::int64_t pools_of(const GuideInput& situation) {
  const double width = situation.width ? situation.width->value() : 1;
  return std::max<std::int64_t>(std::llround(width), 1);
}

Settings canonical(Settings s, const Resources& resources) {
  if (s.instances == 1) s.instances.reset();
  if (!s.instances) s.affinity.reset();  // one instance has all CPUs, whatever their order
  if (s.affinity == Affinity::none) s.affinity.reset();
  if (s.allocator == Allocator::system) s.allocator.reset();
  if (s.memory_bind == MemoryBind::none || resources.nodes == 1) s.memory_bind.reset();
  if (s.intra_op && s.prefill_threads == s.intra_op) s.prefill_threads.reset();  // which means as many
  return s;
}

std::vector<Advice> advice(const GuideInput& situation) {
  std::vector<Advice> out;
  for (const auto& guide : guides()) {
    auto& one = out.emplace_back(Advice{guide.name, guide.says, guide.workers, resolve(guide, situation), {}});
    if (guide.inert != nullptr) one.inert.emplace_back(guide.inert);
  }
  return out;
}

std::vector<Baseline> baselines(const plan::WorkerInfo& worker, const GuideInput& situation) {
  std::vector<Baseline> out;
  for (const auto& one : advice(situation)) {
    const auto& about = one.workers;
    if (!about.empty() && std::find(about.begin(), about.end(), worker.name) == about.end()) continue;
    out.push_back(on_worker(one, worker, situation));
  }
  return out;
}

std::string explain_rule(const plan::WorkerInfo& worker, const GuideInput& situation) {
  const auto pools = pools_of(situation);
  const auto cores = situation.resources.cores;
  std::string text;
  if (situation.width) {
    const auto& w = *situation.width;
    text = fmt::format(
        "This network has {} heavy operators (convolutions and matrix products), and its longest chain of them is {}: "
        "on "
        "average {:.2f} could run at once.\n",
        w.heavy, w.depth, w.value());
  } else {
    text = "The graph of this network is not known, so it counts as one chain of operators: width 1.\n";
  }
  text += fmt::format(
      "The rule of arXiv 1908.04705 gives one pool to each: inter_op = {}, and shares the {} core{} among them: "
      "intra_op = "
      "{}.\n",
      pools, cores, cores == 1 ? "" : "s", std::max<std::int64_t>(cores / pools, 1));
  if (!applies(worker, "inter_op")) {
    const auto why = worker.inert.find("inter_op");
    text += fmt::format("On {} inter_op does nothing: {}.\n", worker.name,
                        why == worker.inert.end() ? "it has no such setting" : why->second);
  }
  if (situation.resources.quota) {
    text += fmt::format(
        "Guides count cores and do not see the quota of {:g} CPUs: where they set more threads than that, the kernel "
        "stops "
        "them in turns.\n",
        *situation.resources.quota);
  }
  return text;
}

}  // namespace assay::tune
