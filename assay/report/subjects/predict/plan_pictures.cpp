#include "assay/report/subjects/predict/plan_pictures.hpp"

#include <algorithm>
#include <cmath>

#include "assay/report/markup.hpp"
#include "assay/report/subjects/predict/plan_text.hpp"

namespace assay::report {
namespace {

constexpr std::int64_t kMostLanes = 16;
constexpr std::size_t kMostMemoryBars = 12;
constexpr std::size_t kDaysOfWeek = 7;
constexpr double kGib = 1024.0 * 1024 * 1024;

/// Bars by kind, each of which is one series.
class StepBars {
 public:
  void add(const char* kind, double lane, double from, double seconds) {
    if (!(seconds > 0)) return;
    auto found = std::find_if(series_.begin(), series_.end(), [&](const Series& s) { return s.name == kind; });
    if (found == series_.end()) {
      series_.push_back({.name = kind, .kind = SeriesKind::bars, .colour = static_cast<std::int64_t>(series_.size())});
      found = series_.end() - 1;
    }
    found->marks.push_back(
        {.y = lane, .low = from, .high = from + seconds, .note = fmt::format("{}: {}", kind, long_duration(seconds))});
  }

  std::vector<Series> take() { return std::move(series_); }

 private:
  std::vector<Series> series_;
};

/// 1F1B: stage s of p waits s / (p - 1) of the bubble before it begins and after it ends, a third before; the rest is
/// between its first forward passes and the first backward pass that comes back to it.
void add_stages(const predict::JudgedSplit& judged, StepBars& bars, PictureAxis& lanes) {
  const auto& t = judged.step;
  const auto p = judged.split.pipeline;
  const double sent = t.tensor_seconds + t.shard_seconds + t.exchange_seconds + t.pipeline_seconds;
  const double work = t.compute_seconds + sent;
  for (std::int64_t lane = 0; lane < std::min(p, kMostLanes); ++lane) {
    const auto stage = p <= kMostLanes ? lane : lane * (p - 1) / (kMostLanes - 1);
    const double share = static_cast<double>(stage) / static_cast<double>(p - 1);
    const auto row = static_cast<double>(lanes.categories.size());
    lanes.categories.push_back(fmt::format("stage {}", stage + 1));
    const double passes =
        std::min(1.0, static_cast<double>(p - stage) / static_cast<double>(judged.split.microbatches));
    double at = share * t.bubble_seconds / 3;
    bars.add("bubble", row, 0, at);
    const double first = passes * work / 3;
    bars.add("computing", row, at, first);
    at += first;
    const double middle = (1 - share) * t.bubble_seconds;
    bars.add("bubble", row, at, middle);
    at += middle;
    const double computing = t.compute_seconds - std::min(first, t.compute_seconds);
    bars.add("computing", row, at, computing);
    at += computing;
    bars.add("communication that is not hidden", row, at, sent);
    at += sent;
    if (stage == p - 1) bars.add("output layer", row, at, t.output_seconds);
    at += t.output_seconds;
    bars.add("bubble", row, at, share * t.bubble_seconds * 2 / 3);
    at += share * t.bubble_seconds * 2 / 3;
    bars.add("gradients", row, at, t.gradient_seconds);
    bars.add("update", row, at + t.gradient_seconds, t.update_seconds);
  }
}

/// One device: each kind of work on a stream of its own.
void add_streams(const predict::StepTime& t, StepBars& bars, PictureAxis& lanes) {
  double at = 0;
  const auto add = [&](const char* stream, const char* kind, double seconds) {
    if (!(seconds > 0)) return;
    auto found = std::find(lanes.categories.begin(), lanes.categories.end(), stream);
    if (found == lanes.categories.end()) {
      lanes.categories.emplace_back(stream);
      found = lanes.categories.end() - 1;
    }
    bars.add(kind, static_cast<double>(found - lanes.categories.begin()), at, seconds);
    at += seconds;
  };
  add("compute", "computing", t.compute_seconds);
  add("tensor group", "sums", t.tensor_seconds);
  add("shards", "gathers that are not hidden", t.shard_seconds);
  add("experts, context", "exchanges", t.exchange_seconds);
  add("compute", "output layer", t.output_seconds);
  add("replicas", "gradients", t.gradient_seconds);
  add("compute", "update", t.update_seconds);
}

Picture blank(const char* id, const char* question, std::string title, PictureAxis x, PictureAxis y) {
  Picture picture;
  picture.id = id;
  picture.question = question;
  picture.title = std::move(title);
  picture.x = std::move(x);
  picture.y = std::move(y);
  return picture;
}

/// As short as a label must be; the axis says what the letters mean.
std::string short_split(const predict::Split& split) {
  auto text = fmt::format("t{} p{}", split.tensor, split.pipeline);
  if (split.interleaving > 1) text += fmt::format("x{}", split.interleaving);
  if (split.context > 1) text += fmt::format(" c{}", split.context);
  if (split.experts > 1) text += fmt::format(" e{}", split.experts);
  if (split.shard > 1) text += fmt::format(" s{}", split.shard);
  text += fmt::format(" b{}", split.microbatch);
  if (split.recompute != predict::Recomputing::none) text += fmt::format(" {}", name_of(split.recompute));
  return text;
}

}  // namespace

Picture step_picture(const predict::JudgedSplit& judged) {
  auto picture = blank("step", "Where does a step go?", "One step, " + text_of(judged.split), {.title = "seconds"},
                       {.title = "", .kind = PictureAxisKind::category});
  StepBars bars;
  if (judged.split.pipeline > 1) {
    add_stages(judged, bars, picture.y);
  } else {
    add_streams(judged.step, bars, picture.y);
  }
  picture.series = bars.take();
  const auto& t = judged.step;
  picture.answer = fmt::format("{} a step: {:.0f} % computing, {:.0f} % bubble. Parts are drawn in one piece each.",
                               long_duration(judged.seconds), 100 * t.compute_seconds / t.seconds,
                               100 * t.bubble_seconds / t.seconds);
  fit_axes(picture);
  return picture;
}

Picture front_picture(const predict::PlanSearch& said) {
  bool priced = said.tokens.has_value();
  for (const auto& point : said.points) priced = priced && (!point.best || point.bill->price);
  // Price hardly changes with the number of devices where work is spread well: as an axis it would pile up the points.
  const char* cost = priced ? "price" : said.tokens ? "device hours" : "device seconds";
  auto picture = blank("front", "Which configuration?", fmt::format("Time against devices, each with its {}", cost),
                       {.title = "devices", .kind = PictureAxisKind::log},
                       {.title = said.tokens ? "hours" : "seconds for a million tokens", .kind = PictureAxisKind::log});
  Series others{.name = "another is better in time, price and devices", .kind = SeriesKind::dots, .colour = 7};
  std::vector<std::string> clusters;
  for (const auto& point : said.points) {
    if (std::find(clusters.begin(), clusters.end(), point.cluster) == clusters.end()) clusters.push_back(point.cluster);
  }
  for (std::size_t i = 0; i < said.points.size(); ++i) {
    const auto& point = said.points[i];
    if (!point.best) continue;
    Mark mark;
    // Clusters stand beside each other: the second a little to the left of the first, away from its label.
    const auto cluster = std::distance(clusters.begin(), std::find(clusters.begin(), clusters.end(), point.cluster));
    mark.x = static_cast<double>(point.devices) * std::pow(.96, static_cast<double>(cluster));
    mark.y = said.tokens ? point.bill->hours : 1e6 / point.best->tokens_per_second;
    mark.low = mark.y * point.best->low_seconds / point.best->seconds;
    mark.high = mark.y * point.best->high_seconds / point.best->seconds;
    const double costs = priced        ? *point.bill->price
                         : said.tokens ? point.bill->device_hours
                                       : mark.y * static_cast<double>(point.devices);
    mark.note = fmt::format("{} devices of {}, {} {}: {}", point.devices, point.cluster, cost, short_number(costs),
                            text_of(point.best->split));
    if (!point.on_front) {
      others.marks.push_back(mark);
      continue;
    }
    auto found = std::find_if(picture.series.begin(), picture.series.end(),
                              [&](const Series& series) { return series.name == point.cluster; });
    if (found == picture.series.end()) {
      picture.series.push_back({.name = point.cluster, .kind = SeriesKind::dots, .colour = cluster % others.colour});
      found = picture.series.end() - 1;
    }
    // Of two clusters with as many devices the first is labelled: labels of both would cover each other.
    const bool is_first = std::none_of(said.points.begin(), said.points.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const auto& other) { return other.devices == point.devices; });
    if (said.chosen == static_cast<std::int64_t>(i)) {
      mark.text = "take this: " + short_number(costs);
    } else if (is_first) {
      mark.text = short_number(costs);
    }
    found->marks.push_back(mark);
  }
  if (!others.marks.empty()) picture.series.push_back(others);
  picture.answer = said.choice;
  fit_axes(picture);
  return picture;
}

Picture memory_picture(const std::vector<predict::JudgedSplit>& splits, double device_bytes) {
  auto picture = blank("memory", "Does it fit?", "Memory of a device by kind",
                       {.title = "GiB; t tensor, p pipeline x parts, c context, e experts, s shard, b microbatch"},
                       {.title = "", .kind = PictureAxisKind::category});
  struct Kind {
    const char* name;
    double predict::StepMemory::*bytes;
  };
  static constexpr std::array kKinds{
      Kind{"states", &predict::StepMemory::state_bytes}, Kind{"activations", &predict::StepMemory::activation_bytes},
      Kind{"output", &predict::StepMemory::output_bytes}, Kind{"buffers", &predict::StepMemory::buffer_bytes}};
  for (const auto& kind : kKinds) {
    picture.series.push_back(
        {.name = kind.name, .kind = SeriesKind::bars, .colour = static_cast<std::int64_t>(picture.series.size())});
  }
  for (std::size_t i = 0; i < std::min(splits.size(), kMostMemoryBars); ++i) {
    picture.y.categories.push_back(short_split(splits[i].split));
    double at = 0;
    for (std::size_t k = 0; k < kKinds.size(); ++k) {
      const double size = splits[i].memory.*kKinds[k].bytes / kGib;
      picture.series[k].marks.push_back({.y = static_cast<double>(i), .low = at, .high = at + size});
      at += size;
    }
  }
  Series limit{
      .name = fmt::format("a device has {:.0f} GiB", device_bytes / kGib), .kind = SeriesKind::rules, .colour = 7};
  limit.marks.push_back({.x = device_bytes / kGib});
  picture.series.push_back(limit);
  picture.answer =
      fmt::format("The best takes {} of {}.", memory_size(splits.front().memory.total()), memory_size(device_bytes));
  fit_axes(picture);
  return picture;
}

Picture calendar_picture(const predict::TrainingPlan& plan) {
  auto picture = blank("calendar", "How does the training go?", "Days of one simulated training, with their failures",
                       {.title = "day of a week", .kind = PictureAxisKind::category},
                       {.title = "", .kind = PictureAxisKind::category});
  for (std::size_t day = 1; day <= kDaysOfWeek; ++day) picture.x.categories.push_back(std::to_string(day));
  const auto weeks = (plan.calendar.size() + kDaysOfWeek - 1) / kDaysOfWeek;
  // Cells of two named axes are drawn from below: the last week comes first.
  for (std::size_t week = weeks; week > 0; --week) picture.y.categories.push_back(fmt::format("week {}", week));
  Series days{.name = "share of a day in steps that count", .kind = SeriesKind::cells};
  std::int64_t failures = 0;
  for (std::size_t i = 0; i < plan.calendar.size(); ++i) {
    const auto& day = plan.calendar[i];
    Mark mark;
    mark.x = static_cast<double>(i % kDaysOfWeek);
    const auto week = i / kDaysOfWeek;
    mark.y = static_cast<double>(weeks - 1 - week);
    mark.shade = std::clamp(day.goodput, 0.0, 1.0);
    mark.text = fmt::format("{:.0f} %, {}", 100 * day.goodput, day.failures);
    mark.note =
        fmt::format("day {}: {:.1f} % in steps that count, {} failures", i + 1, 100 * day.goodput, day.failures);
    days.marks.push_back(mark);
    failures += day.failures;
  }
  picture.series.push_back(days);
  picture.answer = fmt::format(
      "{} days, {} failures; each cell has the share of the day in steps that count and the "
      "number of failures.",
      plan.calendar.size(), failures);
  fit_axes(picture);
  return picture;
}

std::vector<Picture> search_pictures(const predict::PlanSearch& said, double device_bytes) {
  std::vector<Picture> pictures;
  if (!said.chosen) return pictures;
  pictures.push_back(front_picture(said));
  pictures.push_back(step_picture(said.search.ranked.front()));
  pictures.push_back(memory_picture(said.search.ranked, device_bytes));
  return pictures;
}

std::vector<Picture> training_pictures(const predict::TrainingPlans& said, double device_bytes) {
  const auto& plan = said.plans.front();
  const auto longest = std::max_element(plan.stages.begin(), plan.stages.end(),
                                        [](const auto& a, const auto& b) { return a.time.seconds < b.time.seconds; });
  std::vector<predict::JudgedSplit> splits;
  for (const auto& stage : plan.stages) splits.push_back(stage.best);
  auto memory = memory_picture(splits, device_bytes);
  for (std::size_t i = 0; i < memory.y.categories.size(); ++i) {
    memory.y.categories[i] = fmt::format("{}: {}", i + 1, memory.y.categories[i]);
  }
  const auto largest = std::max_element(
      splits.begin(), splits.end(), [](const auto& a, const auto& b) { return a.memory.total() < b.memory.total(); });
  memory.answer =
      fmt::format("The largest stage takes {} of {}.", memory_size(largest->memory.total()), memory_size(device_bytes));
  return {calendar_picture(plan), step_picture(longest->best), memory};
}

std::string standalone_svg(const Picture& picture) {
  // The colours of the page in daylight: Okabe and Ito.
  static constexpr std::array<const char*, kPaletteSize> kColours{"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                                                  "#cc79a7", "#56b4e9", "#8a7a00", "#57606a"};
  std::string style =
      "<style>svg{background:#fff;font:12px sans-serif}.tick{fill:#1b1f24}.inside{fill:#fff}"
      ".grid{stroke:#d0d7de}.hatch{stroke:#1b1f24;stroke-opacity:.45;stroke-width:2}"
      ".ring{fill:none;stroke:#1b1f24;stroke-width:3}.dashed{stroke-dasharray:6 4}";
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    style += fmt::format(
        ".c{0} .line{{fill:none;stroke:{1};stroke-width:2}}.c{0} .band{{fill:{1};opacity:.2}}"
        ".c{0} .dot{{fill:{1};fill-opacity:.75}}.c{0} .bar{{fill:{1}}}",
        i, kColours[i]);
  }
  style += "</style>";
  auto svg = svg_of(picture);
  // A file of its own has no page around it: what it shows and what it says are written above it.
  constexpr int kHead = 44;
  const std::string box = "viewBox=\"0 0 720 ";
  if (const auto at = svg.find(box); at != std::string::npos) {
    const auto height = std::stoi(svg.substr(at + box.size()));
    svg.replace(at, svg.find('"', at + box.size()) + 1 - at,
                fmt::format("viewBox=\"0 -{} 720 {}\"", kHead, height + kHead));
  }
  const auto end = svg.find('>');
  svg.insert(end + 1, fmt::format("{}<title>{}</title><text class=\"tick\" x=\"4\" y=\"-28\" font-weight=\"bold\">{}"
                                  "</text><text class=\"tick\" x=\"4\" y=\"-10\">{}</text>",
                                  style, escaped(picture.title), escaped(picture.title), escaped(picture.answer)));
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"" + svg.substr(4) + "\n";
}

}  // namespace assay::report
