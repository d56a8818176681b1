#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/trial.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/tune/resources.hpp"
#include "assay/tune/results.hpp"

namespace assay::tune {

constexpr std::int64_t kTuningVersion = 1;

/// The outcome of `assay tune`, kept in the store as an artifact of kind "tuning". It is all that `assay exec` and
/// --emit need: no catalog, no framework, no store where it is a file.
struct Tuning {
  std::int64_t version = kTuningVersion;
  std::string name;
  std::string created_utc;
  Workload workload;
  Worker worker;
  std::string goal;      ///< "latency", "throughput@p99<50ms"
  Settings settings;     ///< the best found
  Resources resources;   ///< of the machine tuned on
  std::string platform;  ///< id of the machine tuned on
  /// How a program of that framework is told each setting, as worker.json says it.
  std::map<std::string, plan::Launch> launch;
  std::optional<Results> results;  ///< how it came about; left out of what is written for use elsewhere
};

template <typename V>
void describe(V& v, Tuning& t) {
  required(v, "version", t.version);
  required(v, "name", t.name);
  v("created_utc", t.created_utc);
  required(v, "workload", t.workload);
  required(v, "worker", t.worker);
  required(v, "goal", t.goal);
  required(v, "settings", t.settings);
  required(v, "resources", t.resources);
  required(v, "platform", t.platform);
  v("launch", t.launch);
  v("results", t.results);
}

/// The queue before the worker that a tuning for a rate was found with.
struct TunedQueue {
  std::int64_t batch = 1;    ///< queries that a step takes at most
  double batch_wait_us = 0;  ///< microseconds that the oldest waits for others; 0: not at all
};

/// Null where the tuning is for another goal.
std::optional<TunedQueue> queue_of(const Tuning& tuning);

/// "batch limit 16, batch wait 2000 us".
std::string title(const TunedQueue& queue);

/// Throws Error{bad_input} where a version is newer than this program knows or a count is none; Error{usage} where a
/// setting is out of its range or a variable malformed.
void check(const Tuning& tuning);

/// A tuning as --emit json wrote it, at most 1 MiB; `name` stands for the text in messages. Throws Error.
Tuning parse_tuning(std::string_view text, const std::string& name);

/// The same from a file.
Tuning read_tuning(const std::filesystem::path& file);

}  // namespace assay::tune

namespace assay {

// Instantiated once, in the source: the mapping is what costs most to compile.
extern template json to_json_value<tune::Tuning>(const tune::Tuning&);
extern template void from_json_value<tune::Tuning>(const json&, const std::string&, tune::Tuning&);

}  // namespace assay
