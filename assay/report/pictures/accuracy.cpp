#include <algorithm>
#include <map>

#include "assay/core/workloads/learning.hpp"
#include "assay/report/pictures/naming.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostLearntPictures = 4;
constexpr std::size_t kMostLearners = 8;
constexpr std::size_t kMostScores = 200;  // of each line

/// The runs of a trial that learns.
std::vector<Learned> trainings_of(const Result& result) {
  std::vector<Learned> out;
  const auto found = result.details.effective.find(kLearned);
  if (found == result.details.effective.end()) return out;
  for (const auto& [value, runs] : found->second) {
    const auto learned = from_json<Learned>(value, kLearned);
    if (learned.epochs < 1 || learned.held_out < 1 || std::ssize(learned.correct) != learned.epochs) continue;
    out.insert(out.end(), static_cast<std::size_t>(runs), learned);
  }
  return out;
}

/// Percent that were right after `epoch`; a run that has ended by then keeps its last score.
double score_after(const Learned& learned, std::size_t epoch) {
  const auto correct = learned.correct[std::min(epoch, learned.correct.size() - 1)];
  return 100 * static_cast<double>(correct) / static_cast<double>(learned.held_out);
}

/// A mark for each epoch of the longest run: the median over runs, from the lowest to the highest.
std::vector<Mark> marks_of(const std::vector<Learned>& trainings) {
  std::vector<double> epoch_seconds;
  std::size_t longest = 0;
  for (const auto& learned : trainings) {
    epoch_seconds.push_back(static_cast<double>(learned.ns) * 1e-9 / static_cast<double>(learned.epochs));
    longest = std::max(longest, learned.correct.size());
  }
  const double seconds = stats::median(std::move(epoch_seconds));
  std::vector<Mark> marks;
  for (const auto epoch : spread(longest, kMostScores)) {
    std::vector<double> scores;
    for (const auto& learned : trainings) scores.push_back(score_after(learned, epoch));
    const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
    Mark mark{.x = seconds * static_cast<double>(epoch + 1), .low = *low, .high = *high};
    mark.note = fmt::format("epoch {}, {} runs", epoch + 1, trainings.size());
    mark.y = stats::median(scores);
    marks.push_back(std::move(mark));
  }
  return marks;
}

/// Results that learn the same, by all but the framework, in the order of their first.
std::vector<std::vector<const Result*>> learners(const Evidence& evidence) {
  std::vector<std::vector<const Result*>> out;
  std::map<std::string, std::size_t> places;
  for (const auto* result : good_results(evidence)) {
    if (trainings_of(*result).empty()) continue;
    auto trial = result->trial;
    trial.worker = {};
    const auto [it, is_new] = places.try_emplace(trial_id(trial) + result->platform, out.size());
    if (is_new) out.emplace_back();
    if (out[it->second].size() < kMostLearners) out[it->second].push_back(result);
  }
  if (out.size() > kMostLearntPictures) out.resize(kMostLearntPictures);
  return out;
}

Picture accuracy_picture(const std::vector<const Result*>& results, std::size_t number, const Evidence& evidence) {
  Picture picture;
  picture.id = fmt::format("accuracy-{}", number);
  picture.question = "How long until it has learnt?";
  picture.title = fmt::format("Accuracy of {} over time", title(results.front()->trial.workload));
  picture.command = command_of("assay show --all", evidence);
  picture.x.title = "seconds of steps";
  picture.y.title = "% of held-out samples";
  std::vector<Named> named;
  for (const auto* result : results) named.push_back({&result->trial, result->platform});
  const auto names = distinct_names(named);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Series series{.name = names[i], .kind = SeriesKind::line, .colour = static_cast<std::int64_t>(i)};
    const auto trainings = trainings_of(*results[i]);
    series.marks = marks_of(trainings);
    const auto reached = std::count_if(trainings.begin(), trainings.end(), [](const auto& one) { return one.reached; });
    picture.answer += fmt::format("{}{}: {} % after {} s; {} of {} runs ended with the accuracy.", i == 0 ? "" : " ",
                                  names[i], short_number(series.marks.back().y), short_number(series.marks.back().x),
                                  reached, trainings.size());
    picture.series.push_back(std::move(series));
  }
  return picture;
}

}  // namespace

std::vector<Picture> accuracy_pictures(const Evidence& evidence) {
  std::vector<Picture> pictures;
  for (const auto& results : learners(evidence)) {
    pictures.push_back(accuracy_picture(results, pictures.size() + 1, evidence));
  }
  return pictures;
}

}  // namespace assay::report
