#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "assay/measure/spawn.hpp"

namespace assay::measure {

/// Starts assay-rank for every process of an order. What the ranks say passes through the run directory, never through
/// the launcher.
class Launcher {
 public:
  virtual ~Launcher() = default;

  /// Starts `count` processes on `directory`; the descriptors in `inherit` stay open in them. Throws Error where a
  /// program cannot be started; what was started before is then ended by the caller.
  virtual std::vector<Spawned> start(const std::filesystem::path& directory, std::size_t count,
                                     const std::vector<int>& inherit) = 0;
};

/// All processes on this host, each started directly. `rank_program` is assay-rank.
std::unique_ptr<Launcher> local_launcher(std::filesystem::path rank_program);

}  // namespace assay::measure
