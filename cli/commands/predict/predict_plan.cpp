#include "cli/commands/predict/predict_plan.hpp"

#include "assay/core/text/file.hpp"
#include "assay/core/text/units.hpp"
#include "assay/plan/sweeps/sweep.hpp"
#include "assay/predict/models/hf_config.hpp"
#include "assay/predict/step/usual_practice.hpp"
#include "assay/report/subjects/plan/plan_pictures.hpp"
#include "assay/report/subjects/plan/plan_search.hpp"
#include "assay/report/subjects/predict/training.hpp"
#include "cli/command.hpp"
#include "cli/commands/predict/predict_rows.hpp"
#include "cli/flags/choice.hpp"
#include "cli/output.hpp"

namespace assay::cli {
namespace {

constexpr const char* kPlanGroup = "Plans of transformers";
constexpr std::size_t kMostMeasuredBytes = 64u << 20;

predict::ModelShape model_asked(const std::string& named) {
  if (named.empty()) fail(ErrorKind::usage, "name the model: llama3-70b, or the path of its config.json.");
  return predict::named_or_read_model(named);
}

predict::StepBasis basis_of(const PlanJob& job) {
  if (job.calibrate.empty() != job.columns.empty()) {
    fail(ErrorKind::usage, "--calibrate and --columns belong together: measured jobs, and what their columns mean.");
  }
  if (job.calibrate.empty()) return {};
  const auto text = read_file(job.calibrate, kMostMeasuredBytes);
  if (text.size() > kMostMeasuredBytes) fail(ErrorKind::bad_input, "{} is larger than 64 MiB.", job.calibrate);
  const auto map = predict::read_row_map(job.columns);
  const predict::NamedColumns table(text, job.calibrate, "A table of training jobs, one a row; docs/predict.md.");
  return {map, read_jobs(table, map)};
}

std::vector<predict::Cluster> clusters_of(const PlanJob& job) {
  if (job.clusters.empty()) {
    fail(ErrorKind::usage,
         "--cluster is missing: a file that says what it runs on. Next: assay predict --new-cluster mine.yaml");
  }
  std::vector<predict::Cluster> clusters;
  for (const auto& path : job.clusters) {
    clusters.push_back(predict::read_cluster(path));
    for (std::size_t i = 0; i + 1 < clusters.size(); ++i) {
      if (clusters[i].name != clusters.back().name) continue;
      fail(ErrorKind::usage,
           "--cluster: {} and {} are both named {}. Give each its own name:, so that answers can tell them apart.",
           job.clusters[i], path, shown(clusters[i].name));
    }
  }
  return clusters;
}

double reserve_of(const TrainingPlanFlags& flags) {
  if (flags.reserve.empty()) return predict::kUsualReserve;
  const double share = parse_share(flags.reserve, "--reserve");
  if (share < 1) return share;
  fail(ErrorKind::usage, "--reserve: {} would leave nothing of a device to use. Give less than 100%, such as 10%.",
       shown(flags.reserve));
}

std::int64_t needed_size(const CLI::App& command, const char* flag, const char* what) {
  if (command.count(flag) == 0) fail(ErrorKind::usage, "{} is missing: {}.", flag, what);
  return command.get_option(flag)->as<std::int64_t>();
}

void print_search(const CLI::App& command, const TrainingPlanFlags& flags, const PlanJob& job) {
  predict::PlanQuestion question;
  question.model = model_asked(job.model);
  question.clusters = clusters_of(job);
  if (!job.devices.empty()) question.devices = plan::sweep_numbers(job.devices, "--devices");
  question.practice = predict::usual_practice();
  question.practice.sequence = needed_size(command, "--sequence", "the tokens of a sequence, such as 8192");
  question.global_batch =
      needed_size(command, "--global-batch", "the sequences of a step over all devices, such as 1024");
  if (command.count("--precision") > 0) {
    question.practice.precision =
        choice_of<predict::StepPrecision>(command.get_option("--precision")->as<std::string>(), "--precision");
  }
  question.reserve = reserve_of(flags);
  if (!flags.tokens.empty()) question.tokens = predict::parse_tokens(flags.tokens, "--tokens");
  if (!flags.within.empty()) question.within_seconds = parse_seconds(flags.within, "--within");
  if (flags.price > 0) question.most_price = flags.price;
  question.most = static_cast<std::size_t>(flags.top);
  const auto basis = basis_of(job);
  const auto said = search_plans(question, basis);
  if (flags.pictures.asked()) {
    std::optional<predict::StepDrawing> drawing;
    if (said.chosen) drawing = basis.drawing_of(chosen_job(question, said));
    const auto& cluster = said.chosen ? chosen_cluster(question, said) : question.clusters.front();
    write_pictures(flags.pictures, "Splits of " + said.model, {said.choice},
                   report::search_pictures(said, drawing, device_bytes(step_device(cluster).sheet)),
                   "assay predict --search");
  }
  answer(job.answer, report::plan_search_document(said), [&] { return to_json(said); });
}

void print_training(const TrainingPlanFlags& flags, const PlanJob& job) {
  const auto model = model_asked(job.model);
  const auto file = predict::read_training(flags.training);
  std::vector<predict::TrainingQuestion> questions;
  for (const auto& cluster : clusters_of(job)) {
    questions.push_back({model, cluster, file, predict::usual_practice(), reserve_of(flags), 1});
  }
  const auto basis = basis_of(job);
  const auto said = plan_trainings(questions, basis);
  if (flags.pictures.asked()) {
    const auto& plan = said.plans.front();
    const auto drawing = basis.drawing_of(longest_job(questions.front(), plan));
    write_pictures(flags.pictures, "Training: " + file.name, {plan.cluster},
                   report::training_pictures(plan, drawing, device_bytes(step_device(questions.front().cluster).sheet)),
                   "assay predict --training");
  }
  answer(job.answer, report::training_document(said), [&] { return to_json(said); });
}

}  // namespace

void add_training_plan_flags(CLI::App& command, TrainingPlanFlags& flags) {
  command
      .add_flag("--search", flags.search,
                "Find the best split of a transformer over devices, among all that fit (docs/plan.md)")
      ->group(kPlanGroup);
  command
      .add_option("--training", flags.training,
                  "Predict a whole training with its failures and checkpoints, as this file states it (docs/plan.md)")
      ->type_name("PATH")
      ->group(kPlanGroup);
  command
      .add_option("--tokens", flags.tokens, "Train on this many tokens in all, such as 15.6T: give time and price too")
      ->group(kPlanGroup);
  command.add_option("--within", flags.within, "Take the cheapest that ends within this time, such as 30d")
      ->group(kPlanGroup);
  command
      .add_option("--price", flags.price, "Leave out what costs more than this, in the currency of the cluster file")
      ->check(CLI::Range(1e-9, 1e18))
      ->group(kPlanGroup);
  command.add_option("--reserve", flags.reserve, "Leave this share of a device's memory free [10%]")->group(kPlanGroup);
  command.add_option("--top", flags.top, "Rank this many splits")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group(kPlanGroup);
  command.add_option("--pictures", flags.pictures.folder, "Write pictures of the answer to this folder, as SVG")
      ->type_name("PATH")
      ->group(kPlanGroup);
  command.add_option("--page", flags.pictures.page, "Write the pictures as one HTML file for any browser")
      ->type_name("PATH")
      ->group(kPlanGroup);
}

bool is_plan_asked(const CLI::App& command, const TrainingPlanFlags& flags, bool is_model) {
  if (flags.search || !flags.training.empty()) return true;
  for (const auto* option : command.get_options()) {
    if (option->get_group() != kPlanGroup || option->count() == 0) continue;
    if (is_model && (option->get_name() == "--pictures" || option->get_name() == "--page")) continue;
    fail(ErrorKind::usage, "{} belongs to a plan. Add --search, or --training with its file.", option->get_name());
  }
  return false;
}

void print_plan(const CLI::App& command, const TrainingPlanFlags& flags, const PlanJob& job) {
  if (flags.search && !flags.training.empty()) {
    fail(ErrorKind::usage,
         "--search and --training are two questions. Stages of a training without split: are searched.");
  }
  if (flags.search) {
    refuse_others(
        command,
        {"network", "--search", "--cluster", "--devices", "--global-batch", "--sequence", "--precision", "--tokens",
         "--within", "--price", "--reserve", "--top", "--pictures", "--page", "--calibrate", "--columns"},
        "--search chooses the split itself");
    print_search(command, flags, job);
    return;
  }
  refuse_others(command,
                {"network", "--training", "--cluster", "--reserve", "--pictures", "--page", "--calibrate", "--columns"},
                "the file of --training states it");
  print_training(flags, job);
}

}  // namespace assay::cli
