#include "assay/measure/slurm.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "assay/core/error.hpp"
#include "assay/core/utf8.hpp"
#include "assay/measure/spawn.hpp"

namespace assay::measure {
namespace {

constexpr std::size_t kMostPrinted = 1u << 20;
constexpr int kMostSeconds = 60;
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

/// A program of Slurm's, run to its end.
struct Answer {
  int error = 0;  ///< errno where it could not be started
  bool ok = false;
  std::string out;
  std::string err;
};

/// All of this process but what says how to reach the store.
std::vector<std::string> environment_for_slurm() {
  std::vector<std::string> environment;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view variable = *one;
    if (!variable.starts_with("ASSAY_") && !variable.starts_with("PG")) environment.emplace_back(variable);
  }
  return environment;
}

/// What a pipe still holds, until its end or too much.
bool take(Fd& fd, std::string& text) {
  std::array<char, 4096> chunk;
  const ssize_t got = read(fd.get(), chunk.data(), chunk.size());
  if (got > 0 && text.size() < kMostPrinted) text.append(chunk.data(), static_cast<std::size_t>(got));
  return got > 0;
}

/// Gives the program its input and takes what it prints. False where that took too long.
bool exchange(const std::string& input, Pipe& in, Pipe& out, Pipe& err, Answer& answer) {
  std::size_t given = 0;
  for (int idle = 0; out.read_end || err.read_end;) {
    if (given == input.size()) in.write_end.reset();
    std::array<pollfd, 3> fds{{{in.write_end ? in.write_end.get() : -1, POLLOUT, 0},
                               {out.read_end ? out.read_end.get() : -1, POLLIN, 0},
                               {err.read_end ? err.read_end.get() : -1, POLLIN, 0}}};
    if (poll(fds.data(), fds.size(), 1000) <= 0) {
      if (++idle >= kMostSeconds) return false;
      continue;
    }
    if (fds[0].revents != 0) {
      const ssize_t wrote = write(in.write_end.get(), input.data() + given, input.size() - given);
      wrote > 0 ? given += static_cast<std::size_t>(wrote) : given = input.size();
    }
    if (fds[1].revents != 0 && !take(out.read_end, answer.out)) out.read_end.reset();
    if (fds[2].revents != 0 && !take(err.read_end, answer.err)) err.read_end.reset();
  }
  return true;
}

Answer ask(const std::vector<std::string>& argv, const std::string& input) {
  Answer answer;
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  SpawnRequest request;
  request.argv = argv;
  request.environment = environment_for_slurm();
  request.stdin_fd = in.read_end.get();
  request.stdout_fd = out.write_end.get();
  request.stderr_fd = err.write_end.get();
  request.parent_death_signal = SIGKILL;
  const Spawned program = spawn(request);
  if (program.pid < 0) {
    answer.error = program.error;
    return answer;
  }
  in.read_end.reset();
  out.write_end.reset();
  err.write_end.reset();
  if (!exchange(input, in, out, err, answer)) {
    kill(program.pid, SIGKILL);
    answer.err += fmt::format("it did not answer within {} s", kMostSeconds);
  }
  int status = 0;
  waitpid(program.pid, &status, 0);
  answer.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return answer;
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

std::string submit(const SlurmArray& array) {
  const auto answer = ask(sbatch_words(array), slurm_script(array));
  if (answer.error != 0) {
    fail(ErrorKind::failure, "cannot start sbatch: {}. Submit from a machine on which Slurm's programs are installed.",
         std::strerror(answer.error));
  }
  if (!answer.ok) {
    fail(ErrorKind::failure,
         "sbatch: {}. The plan is in the store, and the same command tries again. `squeue --name {}` tells whether "
         "Slurm has taken the jobs all the same; that would do no harm.",
         printable(answer.err.substr(0, answer.err.find_last_not_of(" \n") + 1), 600), slurm_job_name(array.id));
  }
  return answer.out.substr(0, answer.out.find_first_of(";\n"));
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

std::optional<SlurmJobs> slurm_jobs(const std::string& id) {
  const auto answer = ask({"squeue", "--noheader", "--array", "--name=" + slurm_job_name(id), "--format=%T|%r"}, "");
  if (answer.error != 0 || !answer.ok) return std::nullopt;
  return read_slurm_jobs(answer.out);
}

}  // namespace assay::measure
