#include "assay/report/subjects/plan/plan_pictures.hpp"

#include <algorithm>
#include <cmath>

#include "assay/report/markup.hpp"
#include "assay/report/subjects/plan/plan_text.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostMemoryBars = 12;
constexpr std::size_t kDaysOfWeek = 7;
constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr const char* kMemoryOfSplits =
    "GiB; t tensor, p pipeline x parts, c context, e experts, s shard, b microbatch";

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

Picture memory_picture(const std::vector<MemoryBar>& bars, double device_bytes) {
  auto picture = blank("memory", "Does it fit?", "Memory of a device by kind", {.title = "GiB"},
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
  for (std::size_t i = 0; i < std::min(bars.size(), kMostMemoryBars); ++i) {
    picture.y.categories.push_back(bars[i].name);
    double at = 0;
    for (std::size_t k = 0; k < kKinds.size(); ++k) {
      const double size = bars[i].memory.*kKinds[k].bytes / kGib;
      picture.series[k].marks.push_back({.y = static_cast<double>(i), .low = at, .high = at + size});
      at += size;
    }
  }
  Series limit{
      .name = fmt::format("a device has {:.0f} GiB", device_bytes / kGib), .kind = SeriesKind::rules, .colour = 7};
  limit.marks.push_back({.x = device_bytes / kGib});
  picture.series.push_back(limit);
  const auto largest = std::max_element(bars.begin(), bars.end(), [](const auto& one, const auto& other) {
    return one.memory.total() < other.memory.total();
  });
  picture.answer = fmt::format("{} takes {} of {}.", bars.size() == 1 ? "It" : "The largest",
                               memory_size(largest->memory.total()), memory_size(device_bytes));
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

std::vector<Picture> search_pictures(const predict::PlanSearch& said,
                                     const std::optional<predict::StepDrawing>& drawing, double device_bytes) {
  std::vector<Picture> pictures;
  if (!said.chosen) return pictures;
  const auto& best = said.search.ranked.front();
  pictures.push_back(front_picture(said));
  if (drawing) pictures.push_back(step_picture(text_of(best.split), *drawing, best.seconds, best.step));
  std::vector<MemoryBar> bars;
  for (const auto& one : said.search.ranked) bars.push_back({short_split(one.split), one.memory});
  auto memory = memory_picture(bars, device_bytes);
  memory.x.title = kMemoryOfSplits;
  memory.answer = fmt::format("The best takes {} of {}.", memory_size(best.memory.total()), memory_size(device_bytes));
  pictures.push_back(memory);
  return pictures;
}

std::vector<Picture> training_pictures(const predict::TrainingPlan& plan, const predict::StepDrawing& drawing,
                                       double device_bytes) {
  const auto& best = longest_stage(plan).best;
  std::vector<MemoryBar> bars;
  for (const auto& stage : plan.stages) {
    bars.push_back({fmt::format("{}: {}", bars.size() + 1, short_split(stage.best.split)), stage.best.memory});
  }
  auto memory = memory_picture(bars, device_bytes);
  memory.x.title = kMemoryOfSplits;
  return {calendar_picture(plan), step_picture(text_of(best.split), drawing, best.seconds, best.step), memory};
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
