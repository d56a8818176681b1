#include "assay/tune/tuning.hpp"

#include "assay/core/text/file.hpp"
#include "assay/core/workloads/scenario.hpp"

namespace assay {

namespace tune {
namespace {

constexpr JsonLimits kLimits{.bytes = 1U << 20, .depth = 32, .values = 100'000};
constexpr std::int64_t kMostCpus = 8192;

void check_count(const char* field, std::int64_t value) {
  if (value < 1 || value > kMostCpus) {
    fail(ErrorKind::bad_input, "resources.{}: {} is outside 1 to {}.", field, value, kMostCpus);
  }
}

/// What holds for variables of settings holds for those that a framework reads.
void check_variables(const std::string& setting, const std::map<std::string, std::string>& env) {
  Settings settings;
  settings.env = env;
  try {
    check(settings);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("launch.{}: {}", setting, error.what()));
  }
}

}  // namespace

std::optional<TunedQueue> queue_of(const Tuning& tuning) {
  const auto scenario = scenario_of(tuning.workload.load);
  if (!scenario) return std::nullopt;
  return TunedQueue{tuning.workload.batch, scenario->batch_wait_seconds.value_or(0) * 1e6};
}

std::string title(const TunedQueue& queue) {
  auto text = fmt::format("batch limit {}", queue.batch);
  if (queue.batch_wait_us > 0) text += fmt::format(", batch wait {:g} us", queue.batch_wait_us);
  return text;
}

void check(const Tuning& tuning) {
  if (tuning.version > kTuningVersion) {
    fail(ErrorKind::bad_input, "version {} is newer than this program knows ({}). Update Assay.", tuning.version,
         kTuningVersion);
  }
  check(tuning.settings);
  const auto& resources = tuning.resources;
  check_count("sockets", resources.sockets);
  check_count("nodes", resources.nodes);
  check_count("cores", resources.cores);
  check_count("threads", resources.threads);
  if (resources.quota && !(*resources.quota > 0)) {
    fail(ErrorKind::bad_input, "resources.quota: {} is not a number of CPUs. Leave it out where there is no quota.",
         *resources.quota);
  }
  for (const auto& [setting, launch] : tuning.launch) check_variables(setting, launch.env);
}

Tuning parse_tuning(std::string_view text, const std::string& name) {
  try {
    auto tuning = from_json<Tuning>(parse_json(text, kLimits), "");
    check(tuning);
    return tuning;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} is not a tuning: {}", shown(name, 400), error.what()));
  }
}

Tuning read_tuning(const std::filesystem::path& file) {
  return parse_tuning(read_file(file, kLimits.bytes, "read the tuning"), file.string());
}

}  // namespace tune

template json to_json_value<tune::Tuning>(const tune::Tuning&);
template void from_json_value<tune::Tuning>(const json&, const std::string&, tune::Tuning&);

}  // namespace assay
