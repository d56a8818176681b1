#include "workers/pools/pool.hpp"

#include <map>

#include "workers/common/worker.hpp"

namespace assay::pools {
namespace {

using Make = std::unique_ptr<Pool> (*)(int threads);

const std::map<std::string, Make>& all_pools() {
  static const std::map<std::string, Make> pools{{"eigen", make_eigen_pool},
                                                 {"openmp", make_openmp_pool},
                                                 {"queue", make_queue_pool},
                                                 {"spawn", make_spawn_pool},
                                                 {"tbb", make_tbb_pool}};
  return pools;
}

}  // namespace

std::vector<std::string> pool_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : all_pools()) names.push_back(name);
  return names;
}

std::unique_ptr<Pool> make_pool(const std::string& name, int threads) {
  const auto found = all_pools().find(name);
  if (found != all_pools().end()) return found->second(threads);
  std::string all;
  for (const auto& known : pool_names()) all += (all.empty() ? "" : ", ") + known;
  worker::refuse("TASK_POOL {}: there is {}.", shown(name), all);
}

}  // namespace assay::pools
