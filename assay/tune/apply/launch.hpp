#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/tune/search/told.hpp"
#include "assay/tune/tuning.hpp"

namespace assay::tune {

/// Module settings for the hooks of libexec/inject, as JSON: {"torch": {"inter_op": 2}}.
constexpr const char* kInjectVariable = "ASSAY_TUNED_INJECT";

/// Where a program is about to be started. What takes time to find out is asked for only where it is needed.
struct Host {
  std::vector<std::int64_t> cpus;                  ///< that may be used, ascending
  std::optional<double> quota;                     ///< in CPUs, of the control groups; null where there is none
  std::map<std::string, std::string> environment;  ///< that the program would have
  std::function<platform::Topology()> topology;    ///< within those CPUs
  std::function<std::optional<std::filesystem::path>(Allocator)> find_allocator;
};

/// This host, for this process.
Host this_host();

/// Stand for the number of an instance, for settings.intra_op, and for the queue of a tuning for a rate in the
/// arguments of a program.
constexpr const char* kInstancePlace = "{instance}";
constexpr const char* kThreadsPlace = "{threads}";
constexpr const char* kBatchPlace = "{batch}";
constexpr const char* kBatchWaitPlace = "{batch_wait_us}";

struct LaunchWishes {
  std::vector<std::string> program;             ///< with its arguments
  bool rescale = false;                         ///< a tuning for another number of CPUs is scaled instead of refused
  std::optional<std::filesystem::path> inject;  ///< folder of the hooks; null: lines of code are only told
};

/// What is done to a program before it starts, and what is said of it.
struct LaunchPlan {
  Settings settings;                            ///< that hold here: scaled, and without spinning under a quota
  std::map<std::string, std::string> env;       ///< to set
  std::vector<std::vector<std::int64_t>> cpus;  ///< of each instance; an empty list is not pinned
  std::optional<TunedQueue> queue;              ///< that the program is to have before its worker
  std::vector<CodeLine> code;                   ///< that the user must add to the program
  std::vector<CodeLine> injected;               ///< that the hooks say in its place
  std::vector<std::string> replaced;            ///< variables of the user's that had another value
  std::vector<std::string> warnings;            ///< what could not be set, and why
};

/// Whether the CPUs are for this process alone: no control group leaves it less time than they have. A quota below
/// the number of CPUs means that others run on them too, whether or not a cpuset names them: containers without CPUs
/// of their own share a pool. A quota that fills a cpuset takes nothing away.
bool is_exclusive(const Host& host);

/// Throws Error{usage} where the tuning is for another number of usable CPUs and may not be scaled.
LaunchPlan plan_launch(const Tuning& tuning, const Host& host, const LaunchWishes& wishes);

/// The program's arguments with the number of its instance and its threads in their places.
std::vector<std::string> arguments_of(const LaunchPlan& plan, const std::vector<std::string>& program,
                                      std::int64_t instance);

/// Several lines for a person: what is set, and what is not.
std::string title(const LaunchPlan& plan, const Tuning& tuning);

}  // namespace assay::tune
