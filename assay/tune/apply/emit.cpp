#include "assay/tune/apply/emit.hpp"

#include <algorithm>

#include "assay/platform/machine/placement.hpp"
#include "assay/tune/apply/emitters/emission.hpp"

namespace assay::tune {
namespace {

/// CPUs of each instance where this host is like the one tuned on; else, or where nothing is pinned, empty.
std::vector<std::vector<std::int64_t>> cpus_here(const Tuning& tuning, const Host& host, std::int64_t instances) {
  const auto affinity = tuning.settings.affinity.value_or(Affinity::none);
  if (affinity == Affinity::none || !is_exclusive(host) || tuning.resources.quota) return {};
  const auto topology = host.topology();
  const auto here = resources_of(topology, host.quota);
  const auto& tuned = tuning.resources;
  if (here.threads != tuned.threads || here.cores != tuned.cores || here.nodes != tuned.nodes) return {};
  std::vector<std::vector<std::int64_t>> cpus;
  for (std::int64_t i = 0; i < instances; ++i) {
    cpus.push_back(platform::cpus_of_instance(topology, affinity, i, instances));
    std::sort(cpus.back().begin(), cpus.back().end());
  }
  return cpus;
}

/// By its file's name alone, so that each machine finds its own.
std::optional<std::string> library_of(const Tuning& tuning, const Host& host) {
  const auto allocator = tuning.settings.allocator.value_or(Allocator::system);
  if (allocator == Allocator::system) return std::nullopt;
  if (const auto library = host.find_allocator(allocator)) return library->filename().string();
  return allocator == Allocator::tcmalloc ? "libtcmalloc_minimal.so.4" : "libjemalloc.so.2";
}

std::string emit_env(const Emission& emission) {
  std::string text;
  for (const auto& [name, value] : variables(emission)) {
    if (value.find_first_of("\n\r") != std::string::npos) {
      fail(ErrorKind::usage, "{}={} has several lines, which a file of variables cannot hold. Use --emit sh.", name,
           shown(value));
    }
    text += fmt::format("{}={}\n", name, value);
  }
  return text;
}

/// A program needs the settings, not how they were found.
Tuning without_results(Tuning tuning) {
  tuning.results.reset();
  return tuning;
}

}  // namespace

std::string emit(EmitFormat format, const Tuning& tuning, const Host& host) {
  const std::int64_t instances = tuning.settings.instances.value_or(1);
  const Emission emission{tuning, tell(tuning.launch, tuning.settings), instances, cpus_here(tuning, host, instances),
                          library_of(tuning, host)};
  switch (format) {
    case EmitFormat::env:
      return emit_env(emission);
    case EmitFormat::sh:
      return emit_sh(emission);
    case EmitFormat::json:
      return to_json(without_results(tuning)).dump(2) + "\n";
    case EmitFormat::python:
      return emit_python(emission);
    case EmitFormat::slurm:
      return emit_slurm(emission);
    case EmitFormat::k8s:
      return emit_k8s(emission);
    case EmitFormat::gunicorn:
      return emit_gunicorn(emission);
    case EmitFormat::triton:
      return emit_triton(emission);
  }
  return "";
}

}  // namespace assay::tune
