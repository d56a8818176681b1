#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/workload.hpp"

namespace assay {

/// How weights follow their gradients: SGD with a momentum of 0.9, or Adam with 0.9, 0.999 and 1e-8.
enum class Optimizer { sgd, adam };

template <>
struct EnumNames<Optimizer> {
  static constexpr std::array<const char*, 2> names{"sgd", "adam"};
};

/// A training on real samples that ends at an accuracy. After every epoch the held-out samples are counted. A workload
/// has these as options named until, epochs, optimizer and learning_rate, beside those of its network.
struct Learning {
  double accuracy = 0;        ///< share of the held-out samples that must be right
  std::int64_t epochs = 100;  ///< at most; a run that has not reached the accuracy by then says so
  Optimizer optimizer = Optimizer::sgd;
  double learning_rate = 0.01;
};

/// The data set that a network learns: scikit-learn's digits, cut into two parts once and for all.
constexpr const char* kDigits = "digits";
constexpr std::int64_t kDigitsTrained = 1437;
constexpr std::int64_t kDigitsHeldOut = 360;

/// Makes a workload one that learns, with the standard values of what it does not say yet: mode train, a batch of 32,
/// digits, and all options but until.
void complete_learning(Workload& workload);

/// How a workload learns; null where its input is not digits. Throws Error{usage} naming the option that is missing or
/// not valid.
std::optional<Learning> learning_of(const Workload& workload);

/// The options of a workload that are its network's own.
std::map<std::string, Scalar> options_of_network(const Workload& workload);

/// Steps of an epoch: samples that do not fill a batch wait for another epoch, which has another order.
std::int64_t steps_of_epoch(std::int64_t batch);

/// The share in "accuracy>=97%" or "accuracy>=0.97". Throws Error{usage} where the text is not of this form.
double accuracy_of(const std::string& until);

/// Throws Error{usage} naming the field where a workload learns and cannot, or has an option of learning and does not.
void check_learning(const Workload& workload);

/// What a run that learns leaves in `effective` of its only process, under this name.
constexpr const char* kLearned = "learned";

/// Scores after each epoch, and what they come to: up to the first that has the accuracy, or all where none has.
struct Learned {
  bool reached = false;
  double accuracy = 0;                ///< of the last score
  std::int64_t ns = 0;                ///< of all steps from the first on; what is between them is left out
  std::int64_t samples = 0;           ///< that were trained on
  std::int64_t epochs = 0;            ///< of them, one for each score
  std::int64_t held_out = 0;          ///< samples that were looked at
  std::vector<std::int64_t> correct;  ///< of them, after each epoch
};

template <typename V>
void describe(V& v, Learned& l) {
  required(v, "reached", l.reached);
  required(v, "accuracy", l.accuracy);
  required(v, "ns", l.ns);
  required(v, "samples", l.samples);
  required(v, "epochs", l.epochs);
  required(v, "held_out", l.held_out);
  required(v, "correct", l.correct);
}

/// Adds the score after an epoch of `steps_ns`.
void add_score(const Learning& learning, const std::vector<std::int64_t>& steps_ns, std::int64_t batch,
               std::int64_t correct, Learned& learned);

}  // namespace assay
