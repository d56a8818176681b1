#include "cli/commands/fit_accuracy.hpp"

#include <array>

#include "assay/core/workloads/learning.hpp"
#include "cli/command.hpp"

namespace assay::cli {
namespace {

// What a law calls by the same names as a training.
constexpr std::array<const char*, 2> kOfPoints{"batch", "learning_rate"};

bool is_of_points(const std::string& name) {
  return std::find(kOfPoints.begin(), kOfPoints.end(), name) != kOfPoints.end();
}

model::TrainingKind training_meant(const FitAccuracyFlags& flags, const model::Model& model,
                                   const std::vector<std::string>& at) {
  model::TrainingKind out;
  for (const auto& fixed : model.fixed) {
    if (is_of_points(fixed.factor)) out[fixed.factor] = fmt::format("{}", fixed.value);
  }
  const auto take = [&](const std::vector<std::string>& texts, const char* flag, auto&& wanted) {
    for (const auto& text : texts) {
      const auto [name, value] = split_assignment(text, flag);
      if (wanted(name)) out[name] = value;
    }
  };
  take(at, "--at", is_of_points);
  take(flags.training, "--training", [](const std::string&) { return true; });
  return out;
}

}  // namespace

void add_fit_accuracy_flags(CLI::App& command, FitAccuracyFlags& flags) {
  command.add_option(
      "--until", flags.until,
      "With --at: give the time to this share of held-out samples too, such as 'accuracy>=97%': the time "
      "of a step x steps that trainings of the store needed");
  command
      .add_option("--training", flags.training,
                  "With --until: take the steps of this training, NAME=TEXT: network, and optimizer, batch, "
                  "learning_rate, precision or an option of the network where there are several")
      ->allow_extra_args(false);
}

void check_fit_accuracy_flags(const FitAccuracyFlags& flags, const std::vector<std::string>& at) {
  if (flags.until.empty()) {
    if (!flags.training.empty()) fail(ErrorKind::usage, "--training changes nothing without --until.");
    return;
  }
  if (at.empty()) fail(ErrorKind::usage, "--until needs --at: the point whose step is taken so often.");
  for (const auto& text : flags.training) {
    if (split_assignment(text, "--training").first == "network") return;
  }
  fail(ErrorKind::usage, "--until needs --training network=NAME: a law does not say what is learnt.");
}

std::optional<model::ToAccuracy> time_to_accuracy(const FitAccuracyFlags& flags, const std::string& store,
                                                  const model::Model& model, const std::vector<std::string>& at,
                                                  const model::Prediction& said) {
  if (flags.until.empty() || !said.seconds) return std::nullopt;
  const auto asked = training_meant(flags, model, at);
  const auto opened = store::open_store(store, store::Access::read);
  const store::Filter filter{.network = asked.at("network")};
  const model::LearntRuns learnt(opened->trials(filter), opened->runs(filter));
  const auto needed = learnt.steps_to(accuracy_of(flags.until), asked);
  return model::ToAccuracy{needed, model::time_to(needed, {*said.seconds, said.low, said.high})};
}

}  // namespace assay::cli
