#pragma once

#include "assay/process/spawn.hpp"

namespace assay::cli {

/// SIGINT, SIGTERM and SIGHUP as a descriptor that becomes readable: long work looks at it whenever it waits.
process::Fd stop_signals();

/// What ends work early: signals, a time that is over, or a reason of the program's own. Its descriptor becomes
/// readable by any of them.
class StopSources {
 public:
  StopSources();

  int fd() const { return all_.get(); }
  void after(double seconds);  ///< from now on
  void now();
  bool by_signal() const;  ///< whether a signal was among them

 private:
  void watch(int descriptor);

  process::Fd signals_;
  process::Fd timer_;
  process::Fd event_;
  process::Fd all_;
};

/// Whether `stop_fd` is readable, or becomes so within `seconds`.
bool asked_to_stop(int stop_fd, double seconds);

}  // namespace assay::cli
