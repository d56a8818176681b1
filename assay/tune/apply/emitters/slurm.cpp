#include "assay/tune/apply/emitters/emission.hpp"

namespace assay::tune {

std::string emit_slurm(const Emission& emission) {
  const auto& settings = emission.tuning.settings;
  const auto& resources = emission.tuning.resources;
  const std::int64_t threads = emission.instances * settings.inter_op.value_or(1) * settings.intra_op.value_or(1);
  // One thread a core where that is enough: what Slurm counts are cores then.
  const bool whole_cores = threads <= resources.usable_cores();
  const std::int64_t cpus = whole_cores ? resources.usable_cores() : resources.usable_threads();
  std::string text = "#!/bin/sh\n# Usage: sbatch THIS_FILE PROGRAM ARGUMENTS\n";
  text += fmt::format("#SBATCH --nodes=1\n#SBATCH --ntasks={}\n#SBATCH --cpus-per-task={}\n", emission.instances,
                      std::max<std::int64_t>(cpus / emission.instances, 1));
  if (whole_cores) text += "#SBATCH --hint=nomultithread\n";
  text += comments(emission, {}) + queue_comment(emission);
  text += shell_exports(emission);
  text += "exec srun --cpus-per-task=\"$SLURM_CPUS_PER_TASK\"";
  const bool pinned = settings.affinity && *settings.affinity != Affinity::none;
  text += pinned ? (whole_cores ? " --cpu-bind=cores" : " --cpu-bind=threads") : " --cpu-bind=none";
  if (pinned) {
    text += *settings.affinity == Affinity::compact ? " --distribution=block:block" : " --distribution=block:cyclic";
  }
  if (settings.memory_bind == MemoryBind::local) text += " --mem-bind=local";
  if (settings.memory_bind == MemoryBind::interleave) text += " numactl --interleave=all --";
  return text + " \"$@\"\n";
}

}  // namespace assay::tune
