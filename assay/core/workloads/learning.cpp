#include "assay/core/workloads/learning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "assay/core/text/units.hpp"

namespace assay {
namespace {

constexpr std::int64_t kLearningBatch = 32;
constexpr std::int64_t kMostEpochs = 10'000;
constexpr std::int64_t kMostLearningSteps = 1'000'000;  // a record has the time of each
constexpr double kMostLearningRate = 1000;
constexpr std::array<const char*, 4> kLearningOptions{"until", "epochs", "optimizer", "learning_rate"};

bool is_learning_option(const std::string& name) {
  return std::find(kLearningOptions.begin(), kLearningOptions.end(), name) != kLearningOptions.end();
}

[[noreturn]] void refuse_option(const char* name, const Scalar& value, const char* wanted) {
  fail(ErrorKind::usage, "{}: {} is not {}.", name, plain_text(mapping::scalar_to_json(value)), wanted);
}

const Scalar& option(const Workload& workload, const char* name, const char* example) {
  const auto it = workload.options.find(name);
  if (it == workload.options.end()) {
    fail(ErrorKind::usage, "{}: it is missing where digits are learnt. Add one, such as {}.", name, example);
  }
  return it->second;
}

double rate_of(const Scalar& value) {
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* const real = std::get_if<double>(&value)) return *real;
  refuse_option("learning_rate", value, "a number, such as 0.01");
}

Optimizer optimizer_of(const Scalar& value) {
  const auto& names = EnumNames<Optimizer>::names;
  const auto* const text = std::get_if<std::string>(&value);
  const auto* const at = text == nullptr ? names.end() : std::find(names.begin(), names.end(), *text);
  if (at == names.end()) refuse_option("optimizer", value, "sgd or adam");
  return static_cast<Optimizer>(at - names.begin());
}

void check_ranges(const Learning& learning, std::int64_t batch) {
  if (batch > kDigitsTrained) {
    fail(ErrorKind::usage, "batch: {} is more than the {} samples of digits that are trained on.", batch,
         kDigitsTrained);
  }
  if (learning.epochs < 1 || learning.epochs > kMostEpochs) {
    fail(ErrorKind::usage, "epochs: {} is outside 1 to {}.", learning.epochs, kMostEpochs);
  }
  if (const auto steps = learning.epochs * steps_of_epoch(batch); steps > kMostLearningSteps) {
    fail(ErrorKind::usage, "epochs: {} of {} steps each are more than {} steps. Ask for fewer, or for a larger batch.",
         learning.epochs, steps_of_epoch(batch), kMostLearningSteps);
  }
  const double rate = learning.learning_rate;
  if (!std::isfinite(rate) || rate <= 0 || rate > kMostLearningRate) {
    fail(ErrorKind::usage, "learning_rate: {:g} is not valid. Write a number above 0, at most {:.0f}.", rate,
         kMostLearningRate);
  }
}

}  // namespace

void complete_learning(Workload& workload) {
  if (workload.data == kDigits) return;
  workload.mode = Mode::train;
  workload.batch = kLearningBatch;
  workload.data = kDigits;
  const Learning standard;
  workload.options.emplace("epochs", standard.epochs);
  workload.options.emplace("optimizer", std::string(name_of(standard.optimizer)));
  workload.options.emplace("learning_rate", standard.learning_rate);
}

std::optional<Learning> learning_of(const Workload& workload) {
  if (workload.data != kDigits) return std::nullopt;
  Learning learning;
  const auto& until = option(workload, "until", "'accuracy>=97%'");
  const auto* const text = std::get_if<std::string>(&until);
  if (text == nullptr) refuse_option("until", until, "an end of a training. Write 'accuracy>=97%'");
  learning.accuracy = accuracy_of(*text);
  const auto& epochs = option(workload, "epochs", "100");
  if (!std::holds_alternative<std::int64_t>(epochs)) refuse_option("epochs", epochs, "a whole number, such as 100");
  learning.epochs = std::get<std::int64_t>(epochs);
  learning.optimizer = optimizer_of(option(workload, "optimizer", "sgd"));
  learning.learning_rate = rate_of(option(workload, "learning_rate", "0.01"));
  return learning;
}

std::map<std::string, Scalar> options_of_network(const Workload& workload) {
  auto options = workload.options;
  if (workload.data == kDigits) {
    std::erase_if(options, [](const auto& one) { return is_learning_option(one.first); });
  }
  return options;
}

std::int64_t steps_of_epoch(std::int64_t batch) {
  return kDigitsTrained / batch;
}

double accuracy_of(const std::string& until) {
  constexpr std::string_view kBegin = "accuracy>=";
  std::string text = until;
  std::erase(text, ' ');
  if (!text.starts_with(kBegin)) {
    fail(ErrorKind::usage, "until: {} is not an end of a training. Write 'accuracy>=97%'.", shown(until));
  }
  const double share = parse_share(text.substr(kBegin.size()), "until");
  if (!(share > 0 && share <= 1)) {
    fail(ErrorKind::usage, "until: an accuracy of {} is outside 0 to 100 %. Write one, such as 'accuracy>=97%'.",
         text.substr(kBegin.size()));
  }
  return share;
}

void check_learning(const Workload& workload) {
  if (workload.data != kDigits) {
    if (workload.options.count("until") == 0) return;
    fail(ErrorKind::usage, "until: input from {} cannot be learnt, because it is random. Set data to {}.",
         workload.data, kDigits);
  }
  const auto learning = learning_of(workload);
  if (workload.mode != Mode::train) {
    fail(ErrorKind::usage, "until: an accuracy is reached in mode train, and mode is {}.", name_of(workload.mode));
  }
  check_ranges(*learning, workload.batch);
}

void add_score(const Learning& learning, const std::vector<std::int64_t>& steps_ns, std::int64_t batch,
               std::int64_t correct, Learned& learned) {
  constexpr double kRounding = 1e-9;  // 9 of 10 are 90 %, although 0.9 x 10 may be a little more than 9
  learned.held_out = kDigitsHeldOut;
  learned.correct.push_back(correct);
  learned.epochs = std::ssize(learned.correct);
  learned.samples += std::ssize(steps_ns) * batch;
  learned.ns = std::accumulate(steps_ns.begin(), steps_ns.end(), learned.ns);
  const auto all = static_cast<double>(kDigitsHeldOut);
  learned.accuracy = static_cast<double>(correct) / all;
  learned.reached = static_cast<double>(correct) >= learning.accuracy * all - kRounding;
}

}  // namespace assay
