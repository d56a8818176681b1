#include "assay/measure/slurm.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "assay/core/error.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/process/memory_file.hpp"
#include "assay/process/program.hpp"
#include "assay/process/spawn.hpp"

namespace assay::measure {
namespace {

constexpr int kSecondsToLeave = 30;  // between the signal and the end of a job's time
// What Assay says itself; --wrap and a script of one's own would be other jobs than agents.
constexpr std::array<const char*, 13> kOwnOptions{"array",    "requeue",   "no-requeue", "export", "export-file",
                                                  "job-name", "output",    "error",      "nodes",  "wrap",
                                                  "signal",   "open-mode", "parsable"};

/// A word that a POSIX shell takes as it is.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// A path as sbatch takes it, which reads % as a pattern.
std::string without_patterns(const std::string& path) {
  std::string out;
  for (const char c : path) out += c == '%' ? std::string("%%") : std::string(1, c);
  return out;
}

bool is_option_name(const std::string& name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return name.size() > 1 && name[0] != '-' && std::all_of(name.begin(), name.end(), fits);
}

std::string option_word(const std::pair<std::string, std::string>& option) {
  const auto& [name, value] = option;
  if (!is_option_name(name)) {
    fail(ErrorKind::usage, "--slurm {}: write a long option of sbatch without its dashes, such as partition=gpu.",
         shown(name));
  }
  if (std::find(kOwnOptions.begin(), kOwnOptions.end(), name) != kOwnOptions.end()) {
    fail(ErrorKind::usage, "--slurm {}: Assay sets this option itself, so that runs are neither lost nor repeated.",
         name);
  }
  return value.empty() ? "--" + name : fmt::format("--{}={}", name, value);
}

/// All of this process but what says how to reach the store.
std::vector<std::string> environment_for_slurm() {
  std::vector<std::string> environment;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view variable = *one;
    if (!variable.starts_with("ASSAY_") && !variable.starts_with("PG")) environment.emplace_back(variable);
  }
  return environment;
}

/// Becomes readable once an answer has taken too long.
process::Fd time_limit(std::chrono::seconds patience) {
  process::Fd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  const itimerspec limit{{0, 0}, {patience.count(), 0}};
  if (!timer || timerfd_settime(timer.get(), 0, &limit, nullptr) != 0) file_failed(errno, "set", "a timer");
  return timer;
}

process::ProgramEnd ask(const std::vector<std::string>& argv, const std::string& input, std::chrono::seconds patience) {
  const process::Fd file = process::memory_file(input);
  const process::Fd limit = time_limit(patience);
  auto end = process::run_program(
      argv, environment_for_slurm(), limit.get(), [](const std::string&) {}, file.get());
  if (end.stopped) end.tail += fmt::format("it did not answer within {} s", patience.count());
  return end;
}

}  // namespace

std::string slurm_job_name(const std::string& id) {
  return "assay-" + id;
}

std::string slurm_script(const SlurmArray& array) {
  std::string script = "#!/bin/sh\n";
  for (const auto& [name, value] : array.environment) script += fmt::format("export {}={}\n", name, quoted(value));
  script += "exec";
  for (const auto& word : array.agent) script += " " + quoted(word);
  return script + "\n";
}

std::vector<std::string> sbatch_words(const SlurmArray& array) {
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--job-name=" + slurm_job_name(array.id),
                                 fmt::format("--array=0-{}", array.agents - 1),
                                 fmt::format("--nodes={}", array.nodes),
                                 "--no-requeue",   // another agent takes a lost run; Slurm would start a second one
                                 "--export=NONE",  // what the submitter has set may be secret
                                 fmt::format("--signal=B:TERM@{}", kSecondsToLeave),
                                 "--open-mode=append",
                                 "--output=" + without_patterns((array.logs / array.id).string()) + "-%a.log"};
  for (const auto& option : array.options) words.push_back(option_word(option));
  return words;
}

std::string submit(const SlurmArray& array, std::chrono::seconds patience) {
  const auto answer = ask(sbatch_words(array), slurm_script(array), patience);
  if (answer.error != 0) {
    fail(ErrorKind::failure, "cannot start sbatch: {}. Submit from a machine on which Slurm's programs are installed.",
         std::strerror(answer.error));
  }
  if (!answer.ok()) {
    fail(ErrorKind::failure,
         "sbatch: {}. The plan is in the store, and the same command tries again. `squeue --name {}` shows whether "
         "Slurm has taken the jobs all the same; that would do no harm.",
         printable(answer.tail.substr(0, answer.tail.find_last_not_of(" \n") + 1), 600), slurm_job_name(array.id));
  }
  return answer.output.substr(0, answer.output.find_first_of(";\n"));
}

SlurmJobs read_slurm_jobs(const std::string& printed) {
  SlurmJobs jobs;
  for (std::size_t at = 0; at < printed.size();) {
    const std::size_t end = std::min(printed.find('\n', at), printed.size());
    const std::string line = printed.substr(at, end - at);
    at = end + 1;
    const auto bar = line.find('|');
    if (bar == std::string::npos) continue;
    const std::string state = line.substr(0, bar);
    if (state == "PENDING") {
      if (jobs.pending++ == 0) jobs.why_pending = line.substr(bar + 1);
    } else if (state == "RUNNING" || state == "COMPLETING" || state == "CONFIGURING") {
      ++jobs.running;
    }
  }
  return jobs;
}

std::optional<SlurmJobs> slurm_jobs(const std::string& id, std::chrono::seconds patience) {
  const auto answer =
      ask({"squeue", "--noheader", "--array", "--name=" + slurm_job_name(id), "--format=%T|%r"}, "", patience);
  if (!answer.ok()) return std::nullopt;
  return read_slurm_jobs(answer.output);
}

}  // namespace assay::measure
