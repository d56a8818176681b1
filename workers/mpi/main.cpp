// The MPI worker: a collective over all ranks, a ping-pong between two, or a replayed step of training, on Open MPI.

#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>

#include "assay/core/clock.hpp"
#include "workers/common/options.hpp"
#include "workers/common/worker.hpp"
#include "workers/mpi/algorithm.hpp"
#include "workers/mpi/collective.hpp"
#include "workers/mpi/open_mpi.hpp"
#include "workers/mpi/replayed.hpp"

namespace assay::mpi {
namespace {

constexpr std::int64_t kDefaultBytes = std::int64_t{1} << 20;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;  // counts of MPI are ints
constexpr const char* kYield = "mpi_yield_when_idle";

Collective collective_of(const Workload& workload) {
  const auto& names = EnumNames<Collective>::names;
  const auto found = std::find(names.begin(), names.end(), workload.network);
  if (found == names.end()) {
    worker::refuse("network {}: there is only {} and FILE.replay here.", shown(workload.network),
                   fmt::join(names, ", "));
  }
  if (workload.mode != Mode::infer) worker::refuse("mode train: {} has nothing to train. Use mode infer.", *found);
  if (workload.batch != 1) worker::refuse("batch {}: {} has no samples. Use batch 1.", workload.batch, *found);
  if (workload.precision != "fp32") worker::refuse("precision {}: there is only fp32 here.", shown(workload.precision));
  return static_cast<Collective>(found - names.begin());
}

class Mpi : public worker::Framework {
 public:
  worker::Prepared prepare(const worker::Prepare& prepare) override {
    worker::refuse_settings_beyond(prepare.settings, {"spin", "inter_op", "intra_op", "library_threads"});
    worker::Options options(prepare.workload.options);
    if (prepare.file) {
      replay_ = read_replay(prepare);
    } else {
      collective_ = collective_of(prepare.workload);
    }
    const auto bytes = replay_ ? replay_->bytes() : options.integer("bytes", kDefaultBytes, 1, kMostBytes);
    const auto algorithms = algorithms_of(collective_);
    const auto algorithm = algorithms.empty() ? kDefaultAlgorithm : options.choice("algorithm", algorithms);
    options.refuse_rest();
    if (replay_) {
      check_ranks(prepare.ranks);
    } else {
      check(collective_, bytes, prepare.ranks);
    }
    check_algorithm(collective_, algorithm, prepare.ranks);

    set_parameters(algorithm, prepare.settings);
    join({prepare.rank, prepare.ranks});
    if (algorithm != kDefaultAlgorithm) check_chosen(algorithm);
    buffers_ = make_buffers(collective_, bytes, member_);
    blocks_.assign(static_cast<std::size_t>(member_.ranks), static_cast<int>(buffers_.receive.size()));
    check_result();
    make_repeatable(collective_, buffers_);

    worker::Prepared prepared;
    prepared.versions = {{"openmpi", library_release()}};
    if (const auto yields = read_parameter(kYield)) prepared.effective["spin"] = *yields == "false";
    prepared.phases = replay_ ? std::vector<std::string>{"forward", "backward", "communicate", "update"}
                              : std::vector<std::string>{"communicate"};
    return prepared;
  }

  void step(worker::Step&) override {
    if (replay_) {
      static_cast<void>(train());
    } else {
      communicate();
    }
  }

  void step_with_phases(worker::Step& step) override {
    if (replay_) {
      const auto took = train();
      step.phases_ns = {took.forward_ns, took.backward_ns, took.communicate_ns, took.update_ns};
      return;
    }
    const std::int64_t begin_ns = monotonic_ns();
    communicate();
    step.phases_ns[0] = monotonic_ns() - begin_ns;
  }

  void barrier() override { check_call(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }

  /// After `exit`. Not after an error: it waits for the other ranks, which may be gone.
  void leave() {
    if (has_joined_) MPI_Finalize();
  }

 private:
  void set_parameters(const std::string& algorithm, const Settings& settings) {
    const auto set = [&](const std::string& name, const std::string& value, const char* by) {
      const std::string variable = "OMPI_MCA_" + name;
      if (settings.env.count(variable) > 0) {
        worker::refuse("setting env: {} is set together with {}; leave one of them out.", variable, by);
      }
      set_parameter(name, value);
    };
    if (settings.spin) set(kYield, *settings.spin ? "0" : "1", "spin");
    if (algorithm != kDefaultAlgorithm) {
      set(kDynamicRules, "1", "the option algorithm");
      set(algorithm_parameter(collective_), algorithm, "the option algorithm");
    }
    set_parameter("ess_singleton_isolated", "1");  // without mpirun: one rank that starts no daemon
  }

  /// Becomes the rank that mpirun made this process.
  void join(Member asked) {
    MPI_Init(nullptr, nullptr);
    has_joined_ = true;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rank = 0;
    int ranks = 0;
    check_call(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check_call(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
    if (rank != asked.rank || ranks != asked.ranks) {
      throw std::runtime_error(
          fmt::format("this is to be rank {} of {}, and to MPI it is rank {} of {}. Was it started by mpirun?",
                      asked.rank, asked.ranks, rank, ranks));
    }
    member_ = asked;
  }

  void check_chosen(const std::string& algorithm) const {
    const auto parameter = algorithm_parameter(collective_);
    const auto dynamic = read_parameter(kDynamicRules).value_or("nothing");
    const auto chosen = read_parameter(parameter).value_or("nothing");
    if (dynamic == "true" && chosen == algorithm) return;
    throw std::runtime_error(fmt::format("algorithm {} was asked for, and {} is {} with {} {}", algorithm, parameter,
                                         chosen, kDynamicRules, dynamic));
  }

  /// One step, whose result must be right on this rank.
  void check_result() {
    if (replay_) {
      for (std::size_t i = 0; i < replay_->buckets.size(); ++i) exchange(i);
    } else {
      communicate();
    }
    if (const auto wrong = find_wrong(collective_, buffers_, member_)) {
      throw std::runtime_error(fmt::format("{} gave rank {} of {} a wrong result: element {} is {}, not {}",
                                           name_of(collective_), member_.rank, member_.ranks, wrong->index,
                                           wrong->found, wrong->expected));
    }
  }

  Replayed train() {
    return play(*replay_, MonotonicClock{}, [this](std::size_t i) { exchange(i); });
  }

  void communicate();
  void play_ping_pong();
  void exchange(std::size_t bucket);

  Collective collective_ = Collective::all_reduce;
  Member member_;
  std::optional<Replay> replay_;  ///< null: the step is the collective
  Buffers buffers_;               ///< of a replay, the buckets one behind the other
  std::vector<int> blocks_;       ///< floats for each rank, of reduce_scatter
  bool has_joined_ = false;
};

void Mpi::communicate() {
  const float* const give = buffers_.send.data();
  float* const get = buffers_.receive.data();
  const auto gives = static_cast<int>(buffers_.send.size());
  const auto gets = static_cast<int>(buffers_.receive.size());
  const auto ranks = static_cast<int>(member_.ranks);
  switch (collective_) {
    case Collective::all_reduce:
      return check_call(MPI_Allreduce(MPI_IN_PLACE, get, gets, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
    case Collective::all_gather:
      return check_call(MPI_Allgather(give, gives, MPI_FLOAT, get, gives, MPI_FLOAT, MPI_COMM_WORLD), "MPI_Allgather");
    case Collective::reduce_scatter:
      return check_call(MPI_Reduce_scatter(give, get, blocks_.data(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD),
                        "MPI_Reduce_scatter");
    case Collective::all_to_all:
      return check_call(MPI_Alltoall(give, gives / ranks, MPI_FLOAT, get, gets / ranks, MPI_FLOAT, MPI_COMM_WORLD),
                        "MPI_Alltoall");
    case Collective::broadcast:
      return check_call(MPI_Bcast(get, gets, MPI_FLOAT, 0, MPI_COMM_WORLD), "MPI_Bcast");
    case Collective::ping_pong:
      return play_ping_pong();
  }
}

void Mpi::play_ping_pong() {
  const auto count = static_cast<int>(buffers_.receive.size());
  float* const get = buffers_.receive.data();
  if (member_.rank == 0) {
    check_call(MPI_Send(buffers_.send.data(), count, MPI_FLOAT, 1, 0, MPI_COMM_WORLD), "MPI_Send");
    check_call(MPI_Recv(get, count, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
  } else {
    check_call(MPI_Recv(get, count, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
    check_call(MPI_Send(get, count, MPI_FLOAT, 0, 0, MPI_COMM_WORLD), "MPI_Send");
  }
}

/// Adds up one bucket over all ranks.
void Mpi::exchange(std::size_t bucket) {
  const auto bytes = [this](std::size_t i) { return replay_->buckets[i].bytes; };
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < bucket; ++i) begin += bytes(i);
  float* const data = buffers_.receive.data() + begin / kReplayUnitBytes;
  const auto count = static_cast<int>(bytes(bucket) / kReplayUnitBytes);
  check_call(MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
}

}  // namespace
}  // namespace assay::mpi

#ifdef ASSAY_SANITIZED
/// Open MPI leaves memory behind, some of it from components that it has unloaded and that nothing can name any more.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif

int main() {
  assay::worker::Channel channel;
  assay::mpi::Mpi mpi;
  const int code = assay::worker::serve(channel, mpi);
  if (code == 0) mpi.leave();
  return code;
}
