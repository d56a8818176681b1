#include "assay/tune/apply/launch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "assay/core/text/utf8.hpp"
#include "assay/measure/environment.hpp"
#include "assay/plan/text.hpp"
#include "assay/platform/cgroup.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/machine/placement.hpp"
#include "assay/tune/apply/rescale.hpp"

namespace assay::tune {
namespace {

/// As far as it can be counted without reading the topology.
Resources counted(const Host& host) {
  Resources resources;
  resources.threads = std::max<std::int64_t>(static_cast<std::int64_t>(host.cpus.size()), 1);
  if (!is_exclusive(host)) resources.quota = host.quota;
  return resources;
}

Settings settings_here(const Tuning& tuning, const Host& host, const LaunchWishes& wishes, LaunchPlan& plan) {
  const auto tuned = tuning.resources.usable_threads();
  const auto here = counted(host).usable_threads();
  if (tuned == here) return tuning.settings;
  if (!wishes.rescale) {
    fail(ErrorKind::usage,
         "tuning {} is for {} usable CPUs ({}), and here are {}. Tune on this machine, or let --rescale scale it.",
         shown(tuning.name), tuned, title(tuning.resources), here);
  }
  const auto resources = resources_of(host.topology(), host.quota);
  auto scaled = rescaled(tuning.settings, tuning.resources.usable_cores(), resources.usable_cores());
  plan.warnings.push_back(fmt::format("scaled from {} to {} cores, and not measured so: {} became {}",
                                      tuning.resources.usable_cores(), resources.usable_cores(), title(tuning.settings),
                                      title(scaled)));
  return scaled;
}

void stop_spinning(const Tuning& tuning, LaunchPlan& plan) {
  if (plan.settings.spin == false || !tuning.launch.contains("spin=false")) return;
  plan.settings.spin = false;
  plan.warnings.emplace_back("spin=false: threads that spin would use up the quota");
}

void place(const Host& host, LaunchPlan& plan) {
  const std::int64_t count = plan.settings.instances.value_or(1);
  plan.cpus.resize(static_cast<std::size_t>(count));
  const auto affinity = plan.settings.affinity.value_or(Affinity::none);
  if (affinity == Affinity::none) return;
  if (!is_exclusive(host)) {
    plan.warnings.push_back(fmt::format("affinity={}: not pinned, because a quota of {:g} CPUs shares {} CPUs out",
                                        name_of(affinity), *host.quota, host.cpus.size()));
    return;
  }
  if (count == 1) {
    plan.cpus[0] = host.cpus;  // all of them, in whatever order: reading the topology takes long on a large machine
    return;
  }
  const auto topology = host.topology();
  for (std::int64_t i = 0; i < count; ++i) {
    plan.cpus[static_cast<std::size_t>(i)] = platform::cpus_of_instance(topology, affinity, i, count);
  }
}

/// `first` in front of a list that the settings, or else the user, have for a variable.
void prepend(const std::string& variable, const std::string& first, const Host& host, LaunchPlan& plan) {
  auto list = plan.env.find(variable);
  if (list == plan.env.end()) {
    const auto users = host.environment.find(variable);
    list = plan.env.emplace(variable, users == host.environment.end() ? "" : users->second).first;
  }
  list->second = list->second.empty() ? first : first + ":" + list->second;
}

void choose_allocator(const Host& host, LaunchPlan& plan) {
  const auto allocator = plan.settings.allocator.value_or(Allocator::system);
  if (allocator == Allocator::system) return;
  if (const auto library = host.find_allocator(allocator)) {
    prepend("LD_PRELOAD", library->string(), host, plan);
  } else {
    plan.warnings.push_back(fmt::format("allocator={}: it is not installed here (Debian: {})", name_of(allocator),
                                        allocator == Allocator::tcmalloc ? "libtcmalloc-minimal4" : "libjemalloc2"));
  }
}

void inject(const Told& told, const LaunchWishes& wishes, const Host& host, LaunchPlan& plan) {
  json hooks = json::object();
  for (const auto& line : told.code) {
    const bool by_hook = wishes.inject && !line.inject.empty();
    (by_hook ? plan.injected : plan.code).push_back(line);
    if (by_hook) hooks[line.inject][line.setting] = line.value;
  }
  if (hooks.empty()) return;
  plan.env[kInjectVariable] = hooks.dump();
  prepend("PYTHONPATH", wishes.inject->string(), host, plan);
}

/// Whether an argument of the program has this place.
bool takes(const LaunchWishes& wishes, const char* place) {
  return std::any_of(wishes.program.begin(), wishes.program.end(),
                     [&](const std::string& argument) { return argument.find(place) != std::string::npos; });
}

/// The queue is in the program: nothing outside of it can set its batch limit and wait.
void warn_of_queue(const LaunchWishes& wishes, LaunchPlan& plan) {
  if (!plan.queue) return;
  const bool has_wait = plan.queue->batch_wait_us == 0 || takes(wishes, kBatchWaitPlace);
  if (takes(wishes, kBatchPlace) && has_wait) return;
  plan.warnings.push_back(
      fmt::format("{}: the queue is part of your program, which must set them, or take {} and {} as arguments",
                  title(*plan.queue), kBatchPlace, kBatchWaitPlace));
}

void warn_of_untold(const Told& told, const Tuning& tuning, const LaunchWishes& wishes, LaunchPlan& plan) {
  const bool takes_threads = takes(wishes, kThreadsPlace);
  for (const auto& setting : told.untold) {
    const bool is_threads = setting.starts_with("intra_op=");
    if (is_threads && takes_threads) continue;
    plan.warnings.push_back(fmt::format("{}: {} cannot be set from outside; your program must set it{}", setting,
                                        tuning.worker.name,
                                        is_threads ? fmt::format(", or take {} as an argument", kThreadsPlace) : ""));
  }
}

std::vector<std::string> replaced(const Told& told, const Host& host) {
  std::vector<std::string> names;
  for (const auto& [name, value] : told.env) {
    const auto users = host.environment.find(name);
    if (users != host.environment.end() && users->second != value) names.push_back(name + "=" + users->second);
  }
  return names;
}

}  // namespace

Host this_host() {
  Host host;
  host.cpus = platform::allowed_cpus();
  host.quota = platform::read_quota(platform::cgroup_directories("cpu"));
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string entry = *one;
    const auto equals = entry.find('=');
    if (equals != std::string::npos) host.environment.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  host.topology = [cpus = host.cpus] { return platform::restricted_to(platform::read_topology(), cpus); };
  host.find_allocator = measure::find_allocator;
  return host;
}

bool is_exclusive(const Host& host) {
  return !host.quota || *host.quota >= static_cast<double>(host.cpus.size());
}

LaunchPlan plan_launch(const Tuning& tuning, const Host& host, const LaunchWishes& wishes) {
  LaunchPlan plan;
  plan.settings = settings_here(tuning, host, wishes, plan);
  if (!is_exclusive(host)) stop_spinning(tuning, plan);
  place(host, plan);
  const Told told = tell(tuning.launch, plan.settings);
  plan.env = told.env;
  plan.replaced = replaced(told, host);
  choose_allocator(host, plan);
  inject(told, wishes, host, plan);
  warn_of_untold(told, tuning, wishes, plan);
  plan.queue = queue_of(tuning);
  warn_of_queue(wishes, plan);
  return plan;
}

std::vector<std::string> arguments_of(const LaunchPlan& plan, const std::vector<std::string>& program,
                                      std::int64_t instance) {
  auto arguments = program;
  for (auto& argument : arguments) {
    plan::replace_all(argument, kInstancePlace, std::to_string(instance));
    if (plan.settings.intra_op) plan::replace_all(argument, kThreadsPlace, std::to_string(*plan.settings.intra_op));
    if (!plan.queue) continue;
    plan::replace_all(argument, kBatchPlace, std::to_string(plan.queue->batch));
    plan::replace_all(argument, kBatchWaitPlace, std::to_string(std::llround(plan.queue->batch_wait_us)));
  }
  return arguments;
}

std::string title(const LaunchPlan& plan, const Tuning& tuning) {
  std::string text;
  const auto say = [&](const std::string& line) { text += printable(line, 500) + "\n"; };
  say(fmt::format("tuning {} of {} {} for {}", tuning.name, tuning.worker.name, tuning.worker.release, tuning.goal));
  for (const auto& [name, value] : plan.env) say(fmt::format("set {}={}", name, value));
  for (std::size_t i = 0; i < plan.cpus.size(); ++i) {
    auto cpus = plan.cpus[i];
    std::sort(cpus.begin(), cpus.end());
    if (!cpus.empty()) say(fmt::format("set CPUs of instance {}: {}", i, platform::cpu_list(cpus)));
  }
  if (plan.settings.memory_bind) say(fmt::format("set memory_bind={}", name_of(*plan.settings.memory_bind)));
  for (const auto& line : plan.injected) say("set when imported: " + line.line);
  for (const auto& variable : plan.replaced) say("replaced your " + variable);
  for (const auto& warning : plan.warnings) say("warning: " + warning);
  for (const auto& line : plan.code) {
    say(fmt::format("not set: {}={}. Write in your program: {}{}", line.setting, line.value.dump(), line.line,
                    line.inject.empty() ? "" : "  (or use --inject)"));
  }
  return text;
}

}  // namespace assay::tune
