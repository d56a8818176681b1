#include <unistd.h>

#include <algorithm>
#include <memory>

#include "assay/measure/run_directory.hpp"
#include "assay/network/network.hpp"
#include "assay/report/subjects/workers/equality.hpp"
#include "assay/vet/equality.hpp"
#include "cli/command.hpp"
#include "cli/commands/show_network.hpp"
#include "cli/flags/answer.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

struct EqualFlags {
  std::vector<std::string> workers;
  NetworkFlags network;
  bool train = false;
  std::int64_t updates = 20;
  double learning_rate = 0.01;
  std::int64_t seed = 1;
  AnswerFlags answer;
};

int equal(const EqualFlags& flags) {
  const auto catalog = catalog_at_hand();
  vet::EqualityRequest request;
  for (const auto& name : flags.workers) {
    request.workers.push_back(catalog.find(name));
    const auto& modes = request.workers.back().modes;
    if (flags.train && std::find(modes.begin(), modes.end(), "train") == modes.end()) {
      fail(ErrorKind::usage, "the worker {} does not train. Leave it out, or leave out --train.", name);
    }
  }
  request.workload.network = flags.network.name;
  request.workload.options = network_options(flags.network);
  request.workload.batch = flags.network.batch;
  request.workload.mode = flags.train ? Mode::train : Mode::infer;
  request.seed = flags.seed;
  request.updates = flags.updates;
  request.learning_rate = flags.learning_rate;
  request.started = [&](const std::string& worker) {
    std::fprintf(stderr, "assay: %s on %s\n", flags.network.name.c_str(), worker.c_str());
  };
  const measure::RunDirectory folder(measure::default_run_root(), fmt::format("equal-{}", getpid()));
  request.folder = folder.path();
  const auto results = vet::check_equality(request);
  json out = json::array();
  bool all = true;
  for (const auto& result : results) {
    out.push_back(to_json(result));
    all = all && result.problems.empty();
  }
  answer(flags.answer, report::equality_document(results, flags.train), [&] { return out; });
  return all ? 0 : kExitGate;
}

}  // namespace

void add_worker_equal(CLI::App& worker, int& exit_code) {
  auto* command = worker.add_subcommand(
      "equal", "Give workers the same weights and inputs, and see whether they compute the same as the first");
  const auto flags = std::make_shared<EqualFlags>();
  flags->network.batch = 2;
  command->add_option("workers", flags->workers, "Compare these workers, or worker==release, with the first")
      ->required()
      ->expected(2, 16);
  command->add_option("--network", flags->network.name, "Compute one of Assay's networks")->required();
  command->add_option("--option", flags->network.options, "Set an option of the network, NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--batch", flags->network.batch, "Compute with this many samples")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  command->add_flag("--train", flags->train,
                    "Compare first gradients and losses of training instead of what inference gives");
  command->add_option("--updates", flags->updates, "Train for this many steps")
      ->check(CLI::Range(5, 1000))
      ->capture_default_str();
  command->add_option("--learning-rate", flags->learning_rate, "Train at this rate, by SGD with momentum 0.9")
      ->check(CLI::Range(1e-9, 10.0))
      ->capture_default_str();
  command->add_option("--seed", flags->seed, "Draw weights and inputs from this seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_answer_flags(*command, flags->answer);
  command->callback([flags, &exit_code] { exit_code = equal(*flags); });
}

}  // namespace assay::cli
