#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "assay/plan/catalog/catalog.hpp"

namespace assay::vet {

struct InstallOptions {
  std::filesystem::path environments;  ///< folder below which environments lie; made where it is not there
  std::string python = "python3";      ///< interpreter that the environment is made with
  bool again = false;                  ///< redo one that is complete
  bool unlocked = false;               ///< take what pip finds, although there is a lock
  int stop_fd = -1;                    ///< becomes readable when the user wants to stop
  /// What is being done now; `detail` is the last line the program in hand has written, and changes often.
  std::function<void(const std::string& step, const std::string& detail)> progress;
};

enum class InstallEnd {
  installed,
  already_there,
  stopped,  ///< by the user; nothing is left of it
};

struct Installation {
  InstallEnd end = InstallEnd::installed;
  std::filesystem::path folder;
  plan::Installed installed;  ///< not where it was stopped
};

/// Makes the virtual environment of `worker` (as its worker.json says; see Catalog::installable) with `release` of its
/// main package; null: the one its requirements pin. Where the worker has a lock (plan::lock_name) of that release, pip
/// takes only the files whose hashes it lists; of other releases only what is pinned is certain, and `locked` is false.
/// An environment is made at its final place, because it cannot be moved, and is complete when installed.json is there,
/// which is named last, once all else is on the disk: a power cut leaves a complete environment or none. What an
/// interrupted installation left is removed first. Of two installations at once the second waits, and then finds it
/// done. Throws Error where it cannot be made; nothing is left of it then. The calling process becomes a subreaper and
/// must have no other children.
Installation install(const plan::WorkerInfo& worker, const std::optional<std::string>& release,
                     const InstallOptions& options);

}  // namespace assay::vet
