#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/core/text/json.hpp"
#include "assay/core/workloads/server_load.hpp"
#include "assay/core/workloads/tail_limit.hpp"

namespace assay {

/// How queries reach a worker: the scenarios of MLPerf.
enum class ScenarioKind {
  single_stream,  ///< one query of one sample after the other
  multi_stream,   ///< one query of eight samples after the other
  server,         ///< queries of one sample that arrive independently of each other at a mean rate
  offline,        ///< all samples at once
};

template <>
struct EnumNames<ScenarioKind> {
  static constexpr std::array<const char*, 4> names{"single-stream", "multi-stream", "server", "offline"};
};

/// A load on a worker in process, where a plain workload has its steps one after the other. Queries wait in one queue
/// and are served in order, at most `batch` samples of the workload in a step; a step with fewer is filled up and takes
/// as long.
struct Scenario {
  ScenarioKind kind = ScenarioKind::single_stream;
  /// Mean rate of queries, of a server; null for all others, and where the highest that keeps the limit is looked for.
  std::optional<double> rate_per_second = {};
  /// How long the oldest query of a server waits for others to fill its batch; null: a free worker begins at once.
  std::optional<double> batch_wait_seconds = {};
  std::optional<TailLimit> limit = {};  ///< on latency
};

/// The code of the reason that carries the verdict on a scenario from its run to who shows it.
constexpr const char* kScenarioReason = "scenario";

/// What ServerLoad::server says of a scenario.
constexpr const char* kInProcess = "worker";

/// The scenario of a workload, by its load; null where it has none, or one that nobody knows.
std::optional<Scenario> scenario_of(const std::optional<ServerLoad>& load);

/// Arrivals of a load in process, as its scenario has them; nothing where its scenario is not known yet.
void complete_arrivals(ServerLoad& load);

/// Whether a query is asked once the one before it is answered.
bool one_after_another(ScenarioKind kind);

/// Whether the highest rate within the limit is looked for.
bool seeks_rate(const Scenario& scenario);

/// Samples of each query.
std::int64_t samples_of_query(ScenarioKind kind);

/// Throws Error{usage} naming the field where a value is outside its range, or is not one of this scenario. `batch` is
/// that of the workload.
void check(const Scenario& scenario, std::int64_t batch);

/// "server 50/s wait 2ms p99<50ms".
std::string title(const Scenario& scenario);

}  // namespace assay
