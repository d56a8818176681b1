#include "workers/mpi/replayed.hpp"

#include "assay/core/text/file.hpp"
#include "assay/core/text/hash.hpp"
#include "workers/common/network_file.hpp"

namespace assay::mpi {
namespace {

constexpr std::size_t kMostReplayFileBytes = 16u << 20;

}  // namespace

Replay read_replay(const worker::Prepare& prepare) {
  const auto& file = *prepare.file;
  const auto& workload = prepare.workload;
  if (workload.mode != Mode::train) worker::refuse("mode infer: {} is a step of training.", shown_path(file.path));
  if (workload.precision != "fp32") worker::refuse("precision {}: there is only fp32 here.", shown(workload.precision));
  const auto text = read_file(file.path, kMostReplayFileBytes);
  worker::refuse_changed(file, hash_hex(text));
  auto replay = parse_replay(text, file.path);
  if (replay.batch != workload.batch) {
    worker::refuse("batch {}: {} is a step of batch {}. Use that.", workload.batch, shown_path(file.path),
                   replay.batch);
  }
  return replay;
}

}  // namespace assay::mpi
