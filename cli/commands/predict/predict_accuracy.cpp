#include "cli/commands/predict/predict_accuracy.hpp"

#include "assay/core/workloads/learning.hpp"
#include "assay/predict/training/accuracy.hpp"
#include "assay/report/subjects/predict/accuracy.hpp"
#include "assay/store/selection.hpp"
#include "cli/command.hpp"
#include "cli/commands/predict/predict_rows.hpp"
#include "cli/commands/show_network.hpp"
#include "cli/output.hpp"

namespace assay::cli {
namespace {

/// What flags say of the training.
model::TrainingKind asked_training(const AccuracyFlags& flags, const std::string& network, const std::string& optimizer,
                                   const network::Options& options) {
  model::TrainingKind out{{"network", network}, {"optimizer", optimizer}};
  if (flags.learning_rate) out["learning_rate"] = fmt::format("{}", *flags.learning_rate);
  for (const auto& [name, value] : options) out[name] = plain_text(to_json(value));
  return out;
}

/// Of all campaigns: what was learnt in one holds in all.
model::LearntRuns learnt_runs(store::Store& store, const std::string& network) {
  const store::Filter filter{.network = network};
  return {store.trials(filter), store.runs(filter)};
}

}  // namespace

void add_accuracy_flags(CLI::App& command, AccuracyFlags& flags) {
  const char* group = "Accuracy";
  command
      .add_option(
          "--until", flags.until,
          "Give the time to this share of held-out samples too, such as 'accuracy>=97%': time of a step x steps "
          "that trainings of the store needed; without --cluster of the steps that were measured")
      ->group(group);
  command
      .add_option("--learning-rate", flags.learning_rate,
                  "With --until: take the steps of trainings at this rate [the only one]")
      ->check(CLI::PositiveNumber)
      ->group(group);
}

bool takes_measured_steps(const CLI::App& command, const AccuracyFlags& flags, const PredictSource& source) {
  if (flags.until.empty()) {
    if (!flags.learning_rate) return false;
    fail(ErrorKind::usage, "--learning-rate {} changes nothing without --until.", *flags.learning_rate);
  }
  for (const char* other : {"--score", "--calibrate"}) {
    if (command.count(other) == 0) continue;
    fail(ErrorKind::usage, "--until is for a training that is predicted, and {} predicts none. Leave it out.", other);
  }
  if (command.count("--cluster") > 0) return false;
  refuse_others(command,
                {"network", "--option", "--batch", "--precision", "--store", "--campaign", "--until", "--learning-rate",
                 "--optimizer"},
                "steps are taken as they were measured; with --cluster they are predicted");
  if (source.network.empty()) {
    fail(ErrorKind::usage, "name the network that is trained: assay predict lenet --until 'accuracy>=97%'");
  }
  return true;
}

void print_times_to_accuracy(const AccuracyFlags& flags, const PredictSource& source, const std::string& optimizer,
                             const AnswerFlags& wanted) {
  NetworkFlags named;
  named.options = source.options;
  predict::AccuracyQuestion question{accuracy_of(flags.until),
                                     asked_training(flags, source.network, optimizer, network_options(named))};
  question.training["precision"] = source.precision;
  if (source.batch > 0) question.training["batch"] = std::to_string(source.batch);
  const auto store = store::open_store(source.store, store::Access::read);
  store::Filter filter{.network = source.network};
  if (!source.campaign.empty()) {
    filter.campaign = store::choose_campaign(store->campaigns(), source.campaign, source.store).id;
  }
  const auto said =
      predict_accuracy(question, learnt_runs(*store, source.network), store->trials(filter), store->runs(filter));
  answer(wanted, report::accuracy_prediction_document(said), [&] { return to_json(said); });
}

void add_times_to_accuracy(const AccuracyFlags& flags, const PredictSource& source, const predict::Question& question,
                           predict::ScalingPrediction& said) {
  const double accuracy = accuracy_of(flags.until);
  const auto store = store::open_store(source.store, store::Access::read);
  const auto learnt = learnt_runs(*store, source.network);
  auto asked = asked_training(flags, source.network, question.optimizer, question.options);
  asked["precision"] = question.precision;
  std::string why;
  bool any = false;
  for (auto& point : said.points) {
    asked["batch"] = std::to_string(point.batch * point.devices * question.practice.accumulation);
    try {
      const auto needed = learnt.steps_to(accuracy, asked);
      point.to_accuracy = {needed, model::time_to(needed, {point.step.seconds, point.low_seconds, point.high_seconds})};
      said.notes.push_back(
          fmt::format("To the accuracy on {} devices: {}.", point.devices, report::steps_text(needed)));
      any = true;
    } catch (const Error& error) {
      why = error.what();
      said.notes.push_back(fmt::format("On {} devices the time to the accuracy is not known: {}", point.devices, why));
    }
  }
  if (!any) fail(ErrorKind::usage, "{}", why);
}

}  // namespace assay::cli
