#include <algorithm>
#include <map>
#include <set>

#include "assay/report/markup.hpp"
#include "assay/report/pictures/naming.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostMaps = 2;

using ThreadCount = std::optional<std::int64_t>;      ///< null is what the framework chose
using MapRow = std::pair<std::int64_t, ThreadCount>;  ///< instances, inter_op

struct MapCell {
  double cost = 0;  ///< less is better; only ratios count
  Settings settings;
  bool oversubscribed = false;
};

/// Costs over thread counts: in each cell the best of all other settings.
class SettingsMap {
 public:
  void add(const MapCell& cell) {
    const auto& s = cell.settings;
    columns_.insert(s.intra_op);
    auto [it, is_new] = cells_[{s.instances.value_or(1), s.inter_op}].try_emplace(s.intra_op, cell);
    if (!is_new && cell.cost < it->second.cost) it->second = cell;
    best_ = best_ == 0 ? cell.cost : std::min(best_, cell.cost);
  }

  std::size_t cells() const {
    std::size_t count = 0;
    for (const auto& row : cells_) count += row.second.size();
    return count;
  }

  /// Marks for the picture; `chosen` is ringed, or the cheapest where nothing was chosen.
  void draw(Picture& picture, const Settings* chosen) const {
    picture.x = {.title = "intra-op threads", .kind = PictureAxisKind::category};
    picture.y = {.title = "instances x inter-op", .kind = PictureAxisKind::category};
    for (const auto& column : columns_) picture.x.categories.push_back(count_name(column));
    Series series{.name = "time against the best", .kind = SeriesKind::cells, .colour = 0};
    for (const auto& [row, cells] : cells_) {
      const auto y = static_cast<double>(picture.y.categories.size());
      picture.y.categories.push_back(row_name(row));
      for (const auto& [column, cell] : cells) {
        const double ratio = cell.cost / best_;
        const bool ringed = chosen != nullptr ? same_place(*chosen, cell.settings) : ratio <= 1;
        auto mark = ratio_cell(ratio);
        mark.x = static_cast<double>(std::distance(columns_.begin(), columns_.find(column)));
        mark.y = y;
        mark.note = title(cell.settings) + (cell.oversubscribed ? ", more threads than CPUs" : "");
        mark.hatched = cell.oversubscribed;
        mark.ringed = ringed;
        series.marks.push_back(std::move(mark));
      }
    }
    picture.series.push_back(std::move(series));
  }

  double worst() const {
    double most = 0;
    for (const auto& row : cells_) {
      for (const auto& cell : row.second) most = std::max(most, cell.second.cost / best_);
    }
    return most;
  }

 private:
  static std::string count_name(const ThreadCount& count) { return count ? std::to_string(*count) : "default"; }
  static std::string row_name(const MapRow& row) { return fmt::format("{} x {}", row.first, count_name(row.second)); }
  static bool same_place(const Settings& a, const Settings& b) {
    return a.instances.value_or(1) == b.instances.value_or(1) && a.inter_op == b.inter_op && a.intra_op == b.intra_op;
  }

  std::map<MapRow, std::map<ThreadCount, MapCell>> cells_;
  std::set<ThreadCount> columns_;
  double best_ = 0;
};

bool too_many_threads(const Settings& settings, std::int64_t cpus) {
  return settings.instances.value_or(1) * settings.inter_op.value_or(1) * settings.intra_op.value_or(1) > cpus;
}

Picture settings_picture(std::size_t number, const std::string& what) {
  Picture picture;
  picture.id = fmt::format("settings-{}", number);
  picture.question = "What should be set?";
  picture.title = "Time against the best, by thread counts: " + what;
  return picture;
}

std::string tuning_answer(const tune::Tuning& tuning) {
  auto text = fmt::format("Best for {}: {}.", tuning.goal, title(tuning.settings));
  for (const auto& gain : tuning.results->gains) {
    if (gain.baseline != "framework-default" || !gain.gain.value || gain.same) continue;
    text += fmt::format(" The framework's own defaults take {:.2f} times as long", *gain.gain.value);
    if (gain.gain.low && gain.gain.high) text += fmt::format(" ({:.2f} to {:.2f})", *gain.gain.low, *gain.gain.high);
    text += ".";
  }
  return text;
}

void add_tunings(const Evidence& evidence, std::vector<Picture>& pictures) {
  for (auto tuning = evidence.tunings.rbegin(); tuning != evidence.tunings.rend(); ++tuning) {
    if (pictures.size() == kMostMaps || !tuning->results) continue;
    SettingsMap map;
    for (const auto& tried : tuning->results->tried) {
      if (tried.seconds.empty()) continue;
      map.add({stats::median(tried.seconds), tried.settings,
               too_many_threads(tried.settings, tuning->resources.usable_threads())});
    }
    if (map.cells() < 2) continue;
    auto picture = settings_picture(pictures.size() + 1, fmt::format("{} on {} {}", title(tuning->workload),
                                                                     tuning->worker.name, tuning->worker.release));
    picture.answer = tuning_answer(*tuning) + " Hatched: more threads than CPUs. Ringed: the choice.";
    picture.command = command_of("assay tune --tuned " + shell_word(tuning->name), evidence);
    map.draw(picture, &tuning->settings);
    pictures.push_back(std::move(picture));
  }
}

/// Where nothing was tuned: results that differ in thread counts alone.
void add_swept(const Evidence& evidence, std::vector<Picture>& pictures) {
  std::map<std::string, std::vector<const Result*>> groups;
  for (const auto* result : good_results(evidence)) {
    groups[key_without(result->trial, result->platform, {"intra_op", "inter_op", "instances"})].push_back(result);
  }
  const std::vector<const Result*>* largest = nullptr;
  for (const auto& [key, group] : groups) {
    if (largest == nullptr || group.size() > largest->size()) largest = &group;
  }
  if (largest == nullptr || largest->size() < 3) return;
  SettingsMap map;
  const Result* best = largest->front();
  for (const auto* result : *largest) {
    const auto& reasons = result->details.reasons;
    const bool over =
        std::any_of(reasons.begin(), reasons.end(), [](const auto& r) { return r.code == "oversubscribed"; });
    map.add({1 / *result->samples_per_second, result->trial.settings, over});
    if (*result->samples_per_second > *best->samples_per_second) best = result;
  }
  if (map.cells() < 3) return;
  auto picture = settings_picture(1, fmt::format("{} on {}", title(best->trial.workload), best->trial.worker.name));
  picture.answer = fmt::format(
      "Fastest: {}. The slowest takes {:.2f} times as long. Hatched: more threads than CPUs. Ringed: the fastest.",
      conditions(best->trial), map.worst());
  picture.command = command_of("assay show --all", evidence);
  map.draw(picture, nullptr);
  pictures.push_back(std::move(picture));
}

}  // namespace

std::vector<Picture> settings_pictures(const Evidence& evidence) {
  std::vector<Picture> pictures;
  add_tunings(evidence, pictures);
  if (pictures.empty()) add_swept(evidence, pictures);
  return pictures;
}

}  // namespace assay::report
