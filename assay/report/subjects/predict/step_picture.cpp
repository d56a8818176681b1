#include "assay/report/subjects/predict/step_picture.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "assay/report/subjects/plan/plan_text.hpp"

namespace assay::report {
namespace {

using predict::StepNode;
using predict::StepStream;

constexpr std::int64_t kMostStreamRows = 24;
constexpr double kPixels = 640;  // that a row is wide; what is apart by less than half of one is not
constexpr std::array<const char*, 6> kStepKinds{"forward",      "backward", "gradients of weights",
                                                "output layer", "update",   "communication"};

using StreamRow = std::pair<std::int64_t, StepStream>;

/// Streams on which something runs: of all stages, or of some from the first to the last.
std::map<StreamRow, double> stream_rows(const predict::StepGraph& graph) {
  std::set<StreamRow> used;
  std::map<std::int64_t, std::int64_t> streams;
  for (const auto& node : graph.nodes) {
    if (node.seconds > 0 && used.emplace(node.stage, node.stream).second) ++streams[node.stage];
  }
  std::int64_t most = 1;
  for (const auto& [stage, count] : streams) most = std::max(most, count);
  const auto shown = std::min(graph.stages, std::max<std::int64_t>(2, kMostStreamRows / most));
  std::set<std::int64_t> stages;
  for (std::int64_t i = 0; i < shown; ++i) stages.insert(shown == 1 ? 0 : i * (graph.stages - 1) / (shown - 1));
  std::map<StreamRow, double> rows;
  for (const auto& row : used) {
    if (stages.count(row.first) > 0) rows.emplace(row, static_cast<double>(rows.size()));
  }
  return rows;
}

std::string stream_row_name(const StreamRow& row, std::int64_t stages) {
  const std::string stream = name_of(row.second);
  return stages > 1 ? fmt::format("stage {} {}", row.first + 1, stream) : stream;
}

std::size_t kind_of(const StepNode& node) {
  if (node.stream != StepStream::compute) return kStepKinds.size() - 1;
  const auto found = std::find(kStepKinds.begin(), kStepKinds.end(), std::string(node.name));
  return found == kStepKinds.end() ? kStepKinds.size() - 1 : static_cast<std::size_t>(found - kStepKinds.begin());
}

/// The last bar of a row, which layers of one pass make longer.
struct LastBar {
  std::string_view name;
  std::int64_t microbatch = -1;
  Mark* mark = nullptr;
};

/// Bars by kind. Each series has room for all from the beginning, so that marks stay where they are.
std::vector<Series> stream_bars(const predict::StepDrawing& drawing, const std::map<StreamRow, double>& rows) {
  const auto& graph = drawing.graph;
  std::vector<Series> series;
  for (std::size_t kind = 0; kind < kStepKinds.size(); ++kind) {
    series.push_back({.name = kStepKinds[kind], .kind = SeriesKind::bars, .colour = static_cast<std::int64_t>(kind)});
    series.back().marks.reserve(graph.nodes.size());
  }
  const double apart = drawing.schedule.seconds / kPixels / 2;
  std::map<StreamRow, LastBar> last;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& node = graph.nodes[i];
    const auto row = rows.find({node.stage, node.stream});
    if (row == rows.end() || !(node.seconds > 0)) continue;
    const double begin = drawing.schedule.begin_seconds[i];
    const double end = begin + node.seconds;
    auto& before = last[row->first];
    const bool same = before.mark != nullptr && before.name == node.name && before.microbatch == node.microbatch;
    if (same && begin - *before.mark->high < apart) {
      before.mark->high = end;
      continue;
    }
    Mark mark{.y = row->second, .low = begin, .high = end};
    mark.note = node.name;
    if (node.microbatch >= 0) {
      mark.note += fmt::format(" of microbatch {}", node.microbatch + 1);
      if (node.stream == StepStream::compute) mark.text = std::to_string(node.microbatch + 1);
    }
    auto& marks = series[kind_of(node)].marks;
    marks.push_back(mark);
    before = {node.name, node.microbatch, &marks.back()};
  }
  series.erase(std::remove_if(series.begin(), series.end(), [](const auto& one) { return one.marks.empty(); }),
               series.end());
  return series;
}

}  // namespace

Picture step_picture(const std::string& what, const predict::StepDrawing& drawing, double seconds,
                     const predict::StepTime& time) {
  const auto rows = stream_rows(drawing.graph);
  Picture picture;
  picture.id = "step";
  picture.question = "Where does a step go?";
  picture.title = "One step, " + what;
  picture.x.title = "seconds";
  picture.y.kind = PictureAxisKind::category;
  std::set<std::int64_t> stages;
  for (const auto& row : rows) {
    picture.y.categories.push_back(stream_row_name(row.first, drawing.graph.stages));
    stages.insert(row.first.first);
  }
  picture.series = stream_bars(drawing, rows);
  picture.answer = fmt::format("{} a step: {:.0f} % computing, {:.0f} % bubble.", long_duration(seconds),
                               100 * time.compute_seconds / time.seconds, 100 * time.bubble_seconds / time.seconds);
  if (drawing.microbatches < drawing.step_microbatches) {
    picture.x.title = fmt::format("seconds of a step with {} of its {} microbatches: the others repeat the middle",
                                  drawing.microbatches, drawing.step_microbatches);
    picture.answer += fmt::format(" Drawn: {} of {} microbatches.", drawing.microbatches, drawing.step_microbatches);
  }
  if (static_cast<std::int64_t>(stages.size()) < drawing.graph.stages) {
    picture.answer += fmt::format(" Drawn: {} of {} stages.", stages.size(), drawing.graph.stages);
  }
  fit_axes(picture);
  return picture;
}

}  // namespace assay::report
