#include "assay/report/results/gathered_evidence.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "assay/model/tables/measured.hpp"
#include "assay/report/results/results.hpp"
#include "assay/report/results/scores.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostLayerTrials = 2;
constexpr std::size_t kMostScored = 3;

/// Artifacts of a kind that this release can read: a newer one's are left out, and no reason to write no page.
template <typename Read>
auto readable(store::Store& store, const char* kind, const Read& read) {
  std::vector<decltype(read(store::Artifact{}))> out;
  for (const auto& artifact : store.artifacts(kind)) {
    try {
      out.push_back(read(artifact));
    } catch (const Error&) {
      continue;
    }
  }
  return out;
}

template <typename T>
std::vector<T> readable(store::Store& store, const char* kind) {
  return readable(store, kind, [&](const store::Artifact& one) { return from_json<T>(one.content, kind); });
}

void add_campaign(store::Store& store, const store::CampaignRow& campaign, std::set<std::string>& known,
                  Evidence& evidence) {
  const store::Filter filter{.campaign = campaign.id, .counted_only = false};
  auto trials = store.trials(filter);
  auto rows = store.runs(filter);
  auto results = results_of_campaign(campaign, trials, rows);
  std::move(results.begin(), results.end(), std::back_inserter(evidence.results));
  std::move(rows.begin(), rows.end(), std::back_inserter(evidence.runs));
  for (auto& trial : trials) {
    if (known.insert(trial.id).second) evidence.trials.push_back(std::move(trial));
  }
}

const store::TrialRow& trial_of(const Evidence& evidence, const std::string& id) {
  return *std::find_if(evidence.trials.begin(), evidence.trials.end(), [&](const auto& one) { return one.id == id; });
}

/// Layers of the trials that were timed last, one of each network and worker. Samples of other trials are not read.
void add_layers(store::Store& store, Evidence& evidence) {
  std::vector<std::string> timed;
  for (auto row = evidence.runs.rbegin(); row != evidence.runs.rend() && timed.size() < kMostLayerTrials; ++row) {
    if (!row->counted || !row->digest.layers_over_step) continue;
    const auto& found = trial_of(evidence, row->trial).trial;
    const bool like_another = std::any_of(timed.begin(), timed.end(), [&](const std::string& id) {
      const auto& other = trial_of(evidence, id).trial;
      return other.workload.network == found.workload.network && other.worker.name == found.worker.name;
    });
    if (!like_another) timed.push_back(row->trial);
  }
  for (const auto& id : timed) {
    std::map<std::string, LayerTimes> times;  // numbers of two platforms are never mixed
    store.records({.trial = id}, [&](const Record& record) { times[record.platform].add(record); });
    for (const auto& [platform, of_platform] : times)
      evidence.layers.push_back({trial_of(evidence, id), of_platform.times()});
  }
}

/// Each table that a fit of this store could have been made of, by its identity.
std::map<std::string, model::Table> tables_of(store::Store& store, const Evidence& evidence,
                                              const std::vector<model::Model>& models) {
  std::set<std::string> columns{""};  // that laws tell levels of apart
  for (const auto& model : models) columns.insert(model.law.by);
  std::map<std::string, model::Table> tables;
  std::vector<store::Filter> filters{{}};
  for (const auto& campaign : evidence.campaigns) filters.push_back({.campaign = campaign.id});
  for (const auto& filter : filters) {
    const auto frame = model::frame_of(store.trials(filter), store.runs(filter));
    if (frame.rows.empty()) continue;
    for (const auto& by : columns) {
      try {
        model::Columns taken;
        taken.by = by;
        for (auto& group : groups_of(frame, taken)) tables.emplace(identity(group.table), std::move(group.table));
      } catch (const Error&) {
        continue;  // nothing that could have been fitted
      }
    }
  }
  return tables;
}

/// What a model says of the table that it was fitted to. Nothing where it does not know the table's factors.
std::vector<SaidPoint> said_of(const model::Model& model, const model::Table& table) {
  std::vector<SaidPoint> said;
  try {
    for (const auto& point : points_of(table)) {
      said.push_back({point.median(), model::predict(model, table.factors, point.values)});
    }
  } catch (const Error&) {
    said.clear();
  }
  return said;
}

void add_models(store::Store& store, Evidence& evidence) {
  auto models = readable<model::Model>(store, "model");
  if (models.empty()) return;
  const auto tables = tables_of(store, evidence, models);
  for (auto& model : models) {
    const auto table = tables.find(model.data);
    if (table == tables.end()) continue;
    auto said = said_of(model, table->second);
    evidence.models.push_back({std::move(model), std::move(said)});
  }
}

/// Predictions, and how they did by the runs that are shown.
void add_predictions(store::Store& store, Evidence& evidence) {
  const auto kept = readable(store, kPredictionKind, kept_prediction);
  for (const auto& one : kept) evidence.predictions.push_back(one.said);
  evidence.scores = newest_scores(kept, step_truths(evidence.trials, evidence.runs), kMostScored);
}

}  // namespace

std::string machine_words(store::Store& store, const std::string& id) {
  const auto machine = store.platform(id).value_or(json::object());
  const auto at = [&](const char* path) {
    return machine.is_object() ? machine.value(json::json_pointer(path), json()) : json();
  };
  std::string words;
  const auto name = at("/identity/cpus/0/name");
  if (name.is_string()) words += name.get<std::string>();
  const auto threads = at("/identity/threads");
  if (threads.is_number_integer())
    words += fmt::format("{}{} CPUs", words.empty() ? "" : ", ", threads.get<std::int64_t>());
  return fmt::format("{}{}platform {}", words, words.empty() ? "" : ", ", id.substr(0, 8));
}

Evidence gather_evidence(store::Store& store, const std::vector<store::CampaignRow>& campaigns) {
  Evidence evidence;
  evidence.campaigns = campaigns;
  std::set<std::string> known;
  for (const auto& campaign : campaigns) add_campaign(store, campaign, known, evidence);
  evidence.calibrations = compare::calibrations(store);
  evidence.roofline = known_roofline(store);
  add_shares(evidence.results, evidence.roofline);
  std::set<std::string> platforms;
  for (const auto& result : evidence.results) platforms.insert(result.platform);
  for (const auto& platform : platforms) evidence.machines.push_back(machine_words(store, platform));
  add_layers(store, evidence);
  evidence.tunings = readable<tune::Tuning>(store, "tuning");
  add_predictions(store, evidence);
  add_models(store, evidence);
  return evidence;
}

}  // namespace assay::report
