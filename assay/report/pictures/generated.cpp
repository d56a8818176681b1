#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostModels = 3;
constexpr std::size_t kMostAnswerLines = 6;
constexpr std::size_t kMostContexts = 200;  // of each line
constexpr const char* kAnswerQuestion = "How fast does it answer?";

/// What a picture over a sweep shows of generated text.
struct AnswerView {
  const char* id;
  const char* title;
  const char* x_title;
  const char* y_title;
  std::int64_t Generation::*swept;
  double (*value)(const GeneratedSummary& generated);
};

constexpr std::array<AnswerView, 2> kAnswerViews{
    {{"first-token", "First token", "tokens of the prompt", "ms", &Generation::prompt_tokens,
      [](const GeneratedSummary& g) { return static_cast<double>(g.first_token_ns) * 1e-6; }},
     {"tokens", "Tokens written", "sequences at once", "tokens/s", &Generation::sequences,
      [](const GeneratedSummary& g) { return g.output_tokens_per_second; }}}};

struct AnswerLine {
  Trial trial;  ///< of all its marks, but for what is swept
  std::string platform;
  std::map<std::int64_t, Mark> marks = {};
};

/// Results that generate, by model.
std::vector<std::vector<const Result*>> answers_by_model(const Evidence& evidence) {
  std::vector<std::vector<const Result*>> models;
  std::map<std::string, std::size_t> places;
  for (const auto* result : good_results(evidence)) {
    if (!result->generated || !result->trial.workload.generate) continue;
    const auto [it, is_new] = places.try_emplace(result->trial.workload.network, models.size());
    if (is_new) models.emplace_back();
    models[it->second].push_back(result);
  }
  if (models.size() > kMostModels) models.resize(kMostModels);
  return models;
}

/// One for each result: a token takes longer the more text is before it.
std::vector<AnswerLine> context_lines(const std::vector<const Result*>& answers) {
  std::vector<AnswerLine> lines;
  for (const auto* result : answers) {
    const auto& curve = result->generated->curve_ns;
    if (curve.size() < 2 || lines.size() == kMostAnswerLines) continue;
    auto& line = lines.emplace_back(AnswerLine{result->trial, result->platform});
    for (const auto i : spread(curve.size(), kMostContexts)) {
      const auto context = result->trial.workload.generate->prompt_tokens + static_cast<std::int64_t>(i) + 1;
      line.marks[context] = {.x = static_cast<double>(context), .y = static_cast<double>(curve[i]) * 1e-6};
    }
  }
  return lines;
}

/// Those of results that differ in what is swept alone.
std::vector<AnswerLine> sweep_lines(const std::vector<const Result*>& answers, const AnswerView& view) {
  std::map<std::string, std::size_t> places;
  std::vector<AnswerLine> lines;
  for (const auto* result : answers) {
    auto trial = result->trial;
    const auto x = std::exchange((*trial.workload.generate).*view.swept, 1);
    const auto [it, is_new] = places.try_emplace(trial_id(trial) + result->platform, lines.size());
    if (is_new) lines.push_back({trial, result->platform});
    lines[it->second].marks[x] = {
        .x = static_cast<double>(x), .y = view.value(*result->generated), .note = fmt::format("{} runs", result->ok)};
  }
  lines.erase(std::remove_if(lines.begin(), lines.end(), [](const auto& line) { return line.marks.size() < 2; }),
              lines.end());
  if (lines.size() > kMostAnswerLines) lines.resize(kMostAnswerLines);
  return lines;
}

/// With an answer that names both ends of every line.
void draw_lines(Picture& picture, const std::vector<AnswerLine>& lines) {
  std::vector<Named> named;
  for (const auto& line : lines) named.push_back({&line.trial, line.platform});
  const auto names = distinct_names(named);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Series series{.name = names[i], .kind = SeriesKind::line, .colour = static_cast<std::int64_t>(i)};
    for (const auto& [x, mark] : lines[i].marks) series.marks.push_back(mark);
    const auto& first = series.marks.front();
    const auto& last = series.marks.back();
    picture.answer += fmt::format("{}{}: {} {} at {}, {} {} at {}.", i == 0 ? "" : " ", names[i], short_number(first.y),
                                  picture.y.title, short_number(first.x), short_number(last.y), picture.y.title,
                                  short_number(last.x));
    picture.series.push_back(std::move(series));
  }
}

}  // namespace

std::vector<Picture> generated_pictures(const Evidence& evidence) {
  std::vector<Picture> pictures;
  std::size_t number = 0;
  for (const auto& answers : answers_by_model(evidence)) {
    const auto& network = answers.front()->trial.workload.network;
    ++number;
    const auto add = [&](const char* id, std::string title, PictureAxis x, PictureAxis y,
                         const std::vector<AnswerLine>& lines) {
      if (lines.empty()) return;
      Picture picture;
      picture.id = fmt::format("{}-{}", id, number);
      picture.question = kAnswerQuestion;
      picture.title = std::move(title);
      picture.command = command_of("assay show --all", evidence);
      picture.x = std::move(x);
      picture.y = std::move(y);
      draw_lines(picture, lines);
      pictures.push_back(std::move(picture));
    };
    add("token-context", fmt::format("Time of a token of {} by context", network), {.title = "tokens before it"},
        {.title = "ms"}, context_lines(answers));
    for (const auto& view : kAnswerViews) {
      add(view.id, fmt::format("{} of {} by {}", view.title, network, view.x_title), {.title = view.x_title},
          {.title = view.y_title}, sweep_lines(answers, view));
    }
  }
  return pictures;
}

}  // namespace assay::report
