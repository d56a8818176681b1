#pragma once

#include <functional>
#include <string>

#include "assay/core/record.hpp"

namespace assay::report {

/// Records as a trace in Chrome's format, which Perfetto and chrome://tracing open. Memory stays that of one record.
///
/// Each process of a run is a process of the trace, with a track of steps, one of phases and one of layers. Times are
/// those of the host's monotonic clock: both sides of a lock-step pair stand in their true order, records of different
/// hosts or boots do not. Steps stand one after another from the beginning of their slice. Phases and layers come from
/// passes of their own, of which only durations are known: they stand behind the steps.
class ChromeTrace {
 public:
  using Write = std::function<void(const std::string&)>;

  /// Writes the head.
  explicit ChromeTrace(Write write);

  void add(const Record& record, const Trial& trial);

  /// Writes the end; nothing may be added afterwards.
  void finish();

 private:
  struct Span;

  void add_process(const RankResult& rank, const std::string& called);
  std::int64_t add_steps(const RankResult& rank);
  std::int64_t add_phases(const RankResult& rank, std::int64_t begin_ns);
  void add_layers(const RankResult& rank, std::int64_t begin_ns);
  void span(const Span& one);
  void label(const char* kind, int track, const std::string& text);
  void event(const std::string& text);

  Write write_;
  std::int64_t process_ = 0;
  bool first_ = true;
};

}  // namespace assay::report
