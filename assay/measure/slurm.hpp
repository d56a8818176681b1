#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::measure {

/// What Slurm is asked for: as many jobs as there are to be agents, each of which has some nodes. They are known by
/// our own id. The job's number is for a person's eyes only: a controller that was killed right after it had given one
/// away forgets the job and gives the number to another.
struct SlurmArray {
  std::string id;
  std::int64_t agents = 1;
  std::int64_t nodes = 1;                                    ///< of each agent
  std::vector<std::pair<std::string, std::string>> options;  ///< of sbatch, without their dashes; "" has no value
  std::filesystem::path logs;                                ///< folder
  std::vector<std::string> agent;                            ///< command line of each agent
  std::map<std::string, std::string> environment;            ///< variables that agents need, and no secret among them
};

/// How long Slurm's programs have to answer.
constexpr std::chrono::seconds kSlurmPatience{60};

/// The name that all jobs of a submission have.
std::string slurm_job_name(const std::string& id);

/// What each job runs: POSIX shell, every word quoted. It becomes the agent, which so gets Slurm's signals itself.
std::string slurm_script(const SlurmArray& array);

/// How sbatch is called; the script goes to its standard input. Throws Error{usage} where an option is one that Assay
/// sets itself, or none at all.
std::vector<std::string> sbatch_words(const SlurmArray& array);

/// Hands it to Slurm; the number of the job. Throws Error{failure} with what sbatch said.
std::string submit(const SlurmArray& array, std::chrono::seconds patience = kSlurmPatience);

/// What Slurm knows of a submission right now.
struct SlurmJobs {
  std::int64_t pending = 0;
  std::int64_t running = 0;
  std::string why_pending;  ///< of the first of them, in Slurm's words
};

/// Null where Slurm cannot be asked: there is no squeue, or its controller does not answer.
std::optional<SlurmJobs> slurm_jobs(const std::string& id, std::chrono::seconds patience = kSlurmPatience);

/// The same from what squeue printed: a line "STATE|REASON" for each job.
SlurmJobs read_slurm_jobs(const std::string& printed);

}  // namespace assay::measure
