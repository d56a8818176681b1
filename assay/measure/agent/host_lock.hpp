#pragma once

#include <functional>
#include <optional>
#include <string>

#include "assay/process/spawn.hpp"

namespace assay::measure {

/// One run at a time on a host. The lock is kept by every process that inherits its descriptor: assay-rank does, so
/// that the lock of an agent that was killed is free only when its worker's tree has ended.
class HostLock {
 public:
  /// `path` empty: the host's common lock file.
  explicit HostLock(const std::string& path);

  /// Takes the lock, calling `waiting` (true: go on) every 20 ms until it is free. False where told to stop.
  [[nodiscard]] bool take(const std::function<bool()>& waiting);
  void give_back();
  /// Whether somebody has it now; null where that cannot be told. Makes no file.
  std::optional<bool> is_held() const;
  int descriptor() const { return held_.get(); }

 private:
  std::string path_;
  process::Fd held_;
};

}  // namespace assay::measure
