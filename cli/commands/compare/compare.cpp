#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "assay/compare/compare.hpp"
#include "assay/compare/part_times.hpp"
#include "assay/core/text/units.hpp"
#include "assay/report/markup.hpp"
#include "assay/report/pictures/naming.hpp"
#include "assay/report/subjects/layers/layers.hpp"
#include "assay/report/subjects/verdicts/comparison.hpp"
#include "assay/report/subjects/verdicts/families.hpp"
#include "assay/stats/looks.hpp"
#include "assay/store/location.hpp"
#include "assay/store/selection.hpp"
#include "cli/command.hpp"
#include "cli/commands/compare/compare_sides.hpp"
#include "cli/flags/answer.hpp"
#include "cli/flags/choice.hpp"
#include "cli/help.hpp"
#include "cli/paths.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

constexpr const char* kOfAccuracy = "accuracy";  // of --of, beside the parts of a step

/// "B, C against A".
std::string title_of(const CompareOptions& o) {
  std::string others = o.b;
  for (const auto& other : o.others) others += ", " + other;
  return others + " against " + o.a;
}

bool has_layers(const Trial& trial, const plan::Catalog& catalog) {
  const auto* worker = catalog.find(trial.worker);
  return worker != nullptr &&
         std::find(worker->details.begin(), worker->details.end(), "layers") != worker->details.end();
}

plan::Campaign campaign_of(const CompareOptions& o, const TrialGroup& group, const plan::Catalog& catalog) {
  const auto all = [&](const auto& holds) { return std::all_of(group.begin(), group.end(), holds); };
  plan::Campaign campaign;
  campaign.name = title_of(o);
  campaign.seed = o.seed;
  campaign.runs = o.runs;
  // Ranks of several runs cannot take turns: their steps are agreed on among themselves.
  campaign.lockstep = !o.apart && all([](const Trial& trial) { return trial.placement.ranks == 1; });
  campaign.trials = group;
  campaign.measure.layers = o.explain && all([&](const Trial& trial) { return has_layers(trial, catalog); });
  apply(o.measure, campaign.measure);
  if (campaign.measure.stop) campaign.runs = stats::looks(campaign.measure.stop->most_runs).front();
  check(campaign, catalog);
  return campaign;
}

/// Measures what is missing; ids of the campaigns that hold it. Empty where it was stopped.
std::vector<std::string> measure_missing(const CompareOptions& o, const std::vector<TrialGroup>& groups,
                                         store::Store& store, const plan::Catalog& catalog) {
  const auto stop = stop_signals();
  std::vector<std::string> ids;
  for (const auto& group : groups) {
    auto campaign = campaign_of(o, group, catalog);
    if (!o.work.quiet) {
      std::fprintf(stderr, "assay: %s, %s\n", title(group.front().workload).c_str(),
                   campaign.lockstep ? "in lock-step" : "in turns of whole runs");
    }
    const auto id = plan_with_failed(store, campaign, o.again);
    if (work_on_planned(o.work, store, catalog, campaign, id, stop.get()) == measure::AgentEnd::stopped) return {};
    ids.push_back(id);
  }
  return ids;
}

/// "settings.intra_op" of a trial as text.
std::string axis_text(const Trial& trial, const std::string& axis) {
  if (axis == "worker") return trial.worker.name;
  const json whole = to_json(trial);
  const auto dot = axis.find('.');
  if (dot == std::string::npos) {
    const auto& workload = whole.at("workload");
    const auto own = workload.find(axis);
    if (own != workload.end()) return plain_text(*own);
    const auto& generate = workload.at("generate");  // tokens and sequences
    return generate.is_null() ? "" : plain_text(generate.at(axis));
  }
  return plain_text(whole.at(axis.substr(0, dot)).at(axis.substr(dot + 1)));
}

/// Without --run the flags choose among what has been measured.
bool chosen(const Trial& trial, const PlanFlags& flags) {
  for (const auto& [axis, text] : flags.axes) {
    const auto own = axis_text(trial, axis);
    const auto release = axis == "worker" ? own + "==" + trial.worker.release : own;
    const auto list = "," + text + ",";
    if (list.find("," + own + ",") == std::string::npos && list.find("," + release + ",") == std::string::npos)
      return false;
  }
  return true;
}

compare::Material material_of(store::Store& store, const std::vector<std::string>& campaigns) {
  compare::Material material;
  material.calibrations = compare::calibrations(store);
  if (campaigns.empty()) {
    material.trials = store.trials({});
    material.rows = store.runs({});
    return material;
  }
  std::map<std::string, bool> known;
  for (const auto& id : campaigns) {
    for (auto& row : store.trials({.campaign = id})) {
      if (!std::exchange(known[row.id], true)) material.trials.push_back(std::move(row));
    }
    auto rows = store.runs({.campaign = id});
    std::move(rows.begin(), rows.end(), std::back_inserter(material.rows));
  }
  return material;
}

/// Where all sides are campaigns only those are read, so that a large store costs nothing.
std::vector<std::string> campaigns_named(const CompareOptions& o, const std::vector<store::CampaignRow>& campaigns) {
  std::vector<std::string> ids;
  const auto sides = sides_of(o);
  for (const auto& side : sides) {
    for (auto row = campaigns.rbegin(); row != campaigns.rend(); ++row) {
      if (row->name != side) continue;
      ids.push_back(row->id);
      break;
    }
  }
  return ids.size() == sides.size() ? ids : std::vector<std::string>{};
}

/// One campaign is a comparison of its own trials; what they are called.
std::vector<std::string> split_campaign(CompareOptions& o, store::Store& store,
                                        const std::vector<store::CampaignRow>& rows,
                                        std::vector<std::string>& campaigns) {
  const auto row = store::choose_campaign(rows, o.a, o.work.store);
  const auto trials = store.trials({.campaign = row.id});
  if (trials.size() != 2 && !(trials.size() > 2 && row.lockstep)) {
    fail(ErrorKind::usage, "{} has {} trials. Name two sides, such as fake==1.0 fake==2.0 or intra_op=1 intra_op=2.",
         shown(o.a), trials.size());
  }
  campaigns = {row.id};
  o.a = "trial:" + trials[0].id;
  o.b = "trial:" + trials[1].id;
  for (std::size_t i = 2; i < trials.size(); ++i) o.others.push_back("trial:" + trials[i].id);
  std::vector<report::Named> named;
  for (const auto& one : trials) named.push_back({&one.trial, ""});
  return report::distinct_names(named);
}

std::vector<compare::PartTime> layers_of(store::Store& store, const compare::Side& side) {
  report::LayerTimes times;
  store.records({.trial = side.trial_id}, [&](const Record& record) {
    if (record.platform == side.platform) times.add(record);
  });
  std::vector<compare::PartTime> out;
  for (const auto& layer : times.times()) {
    out.push_back({layer.node, (layer.forward_ns + layer.backward_ns) / 1e9});
  }
  return out;
}

report::Explained explain(store::Store& store, const compare::Comparison& comparison) {
  report::Explained out;
  out.phases = compare::explain_phases(comparison);
  const auto a = layers_of(store, comparison.a);
  const auto b = layers_of(store, comparison.b);
  if (!a.empty() && !b.empty()) out.layers = compare::explain(a, b);
  return out;
}

/// Runs that were measured for several campaigns count as theirs.
void give_to(const std::vector<std::string>& campaigns, const std::vector<TrialGroup>& groups,
             compare::Material& material) {
  std::map<std::string, std::string> owner;
  for (const auto& group : groups) {
    for (std::size_t i = 0; i < group.size(); ++i) owner[trial_id(group[i])] = campaigns[i];
  }
  for (auto& row : material.rows) row.campaign = owner[row.trial];
}

/// The same command with twice the runs, in groups where the sides can be measured so.
std::string command_with_more_runs(const CompareOptions& o, std::int64_t most) {
  std::string out = "assay";
  for (std::size_t i = 0; i < o.words.size(); ++i) {
    if (o.words[i] == "--runs") {
      ++i;
    } else if (o.words[i] != "--run" && o.words[i] != "--again" && !o.words[i].starts_with("--runs=")) {
      out += " " + report::shell_word(o.words[i]);
    }
  }
  return fmt::format("{} --run --runs {}", out, 2 * most);
}

std::int64_t most_runs(const compare::Comparison& c) {
  return std::max({c.pairs, c.a.runs, c.b.runs});
}

void check_explain(const CompareOptions& o) {
  if (!o.explain || o.others.empty()) return;
  fail(ErrorKind::usage, "--explain splits the difference of two sides, and there are {}. Name two of them.",
       sides_of(o).size());
}

/// What is chosen, and what the sides are called.
struct Chosen {
  std::vector<store::CampaignRow> rows;
  std::vector<std::string> names;
  compare::Material material;
};

/// Leaves out runs that are of no side: what they have not reached is of no matter.
void keep_runs_of_sides(const CompareOptions& o, Chosen& chosen) {
  auto& material = chosen.material;
  std::vector<compare::Selector> sides;
  for (const auto& side : sides_of(o)) sides.emplace_back(side, chosen.rows, material.trials);
  std::map<std::string, const Trial*> trials;
  for (const auto& row : material.trials) trials[row.id] = &row.trial;
  std::erase_if(material.rows, [&](const store::RunRow& row) {
    const auto trial = trials.find(row.trial);
    return trial == trials.end() || std::none_of(sides.begin(), sides.end(), [&](const compare::Selector& side) {
             return side.matches(row, *trial->second);
           });
  });
}

Chosen choose(CompareOptions& o, store::Store& store, std::vector<std::string> campaigns,
              const std::function<void(compare::Material&)>& prepare) {
  Chosen out;
  out.rows = store.campaigns();
  out.names = sides_of(o);
  if (o.b.empty()) {
    out.names = split_campaign(o, store, out.rows, campaigns);
    check_explain(o);
  } else if (campaigns.empty()) {
    campaigns = campaigns_named(o, out.rows);
  }
  out.material = material_of(store, campaigns);
  if (o.of == kOfAccuracy) {
    keep_runs_of_sides(o, out);
    compare::take_times_to_accuracy(out.material);
  } else if (!o.of.empty()) {
    compare::take_times_of(choice_of<TimeOf>(o.of, "--of"), out.material.rows);
  }
  if (prepare) prepare(out.material);
  std::erase_if(out.material.trials, [&](const auto& row) { return !o.run && !chosen(row.trial, o.plan); });
  return out;
}

/// Whether the store knows the noise of the hosts of both sides.
bool hosts_known(const compare::Material& material, const compare::Comparison& comparison) {
  return compare::knows(material.calibrations, comparison.a.platform) &&
         compare::knows(material.calibrations, comparison.b.platform);
}

report::FamiliesData compared_all(const CompareOptions& o, const Chosen& chosen) {
  report::FamiliesData data;
  data.names = chosen.names;
  if (o.to == "fastest") data.reference = compare::FamilyReference::fastest;
  std::vector<compare::Selector> sides;
  for (const auto& side : sides_of(o)) sides.emplace_back(side, chosen.rows, chosen.material.trials);
  data.families = compare::compare_all(chosen.material, sides, data.reference);
  data.calibrated = std::all_of(data.families.all.begin(), data.families.all.end(), [&](const compare::Family& family) {
    return std::all_of(family.pairs.begin(), family.pairs.end(),
                       [&](const auto& pair) { return hosts_known(chosen.material, pair.comparison); });
  });
  if (!o.gate.empty()) data.gate = parse_share(o.gate, "--gate");
  if (data.open() == 0) return data;
  std::int64_t most = o.runs;
  for (const auto& family : data.families.all) {
    for (const auto& pair : family.pairs) most = std::max(most, most_runs(pair.comparison));
  }
  data.next_command = command_with_more_runs(o, most);
  return data;
}

report::ComparisonData compared(const CompareOptions& o, store::Store& store, const Chosen& chosen) {
  const auto& [rows, names, material] = chosen;
  report::ComparisonData data;
  data.a = names[0];
  data.b = names[1];
  const compare::Selector a(o.a, rows, material.trials);
  const compare::Selector b(o.b, rows, material.trials);
  data.comparisons = compare::compare(material, a, b);
  data.calibrated = std::all_of(data.comparisons.all.begin(), data.comparisons.all.end(),
                                [&](const auto& one) { return hosts_known(chosen.material, one); });
  if (!o.gate.empty()) data.gate = parse_share(o.gate, "--gate");
  if (data.open() > 0) {
    std::int64_t most = o.runs;
    for (const auto& one : data.comparisons.all) most = std::max(most, most_runs(one));
    data.next_command = command_with_more_runs(o, most);
  }
  if (o.explain) {
    for (const auto& one : data.comparisons.all) data.explained.push_back(explain(store, one));
  }
  return data;
}

void check_flags(const CompareOptions& o) {
  if (!o.gate.empty()) parse_share(o.gate, "--gate");  // before hours of measuring
  if (o.run && o.b.empty())
    fail(ErrorKind::usage, "--run needs two sides, such as onnxruntime==1.24.4 onnxruntime==1.31.1.");
  if (!o.run && (!o.plan.options.empty() || !o.plan.env.empty()))
    fail(ErrorKind::usage, "--option and --env say what --run measures. Add --run, or leave them out.");
  check_explain(o);
  if (o.of.empty()) return;
  if (o.of != kOfAccuracy) choice_of<TimeOf>(o.of, "--of");
  if (o.explain) fail(ErrorKind::usage, "--explain splits whole steps, and --of {} is a part. Leave out one.", o.of);
}

/// Of comparisons that fail the gate, and of those that leave it open.
int exit_code_of(const CompareOptions& o, std::int64_t failed, std::int64_t open) {
  if (failed > 0) return kExitGate;
  if (open == 0 || o.undecided == "pass") return 0;
  return o.undecided == "fail" ? kExitGate : kExitUndecided;
}

int print_families(const CompareOptions& o, const report::FamiliesData& data) {
  if (data.families.all.empty()) {
    fail(ErrorKind::usage,
         "nothing to compare: no trial is there for all {} sides. Trials are compared that are equal but for what the "
         "sides say, on one platform; --run measures what is missing.",
         data.names.size());
  }
  write_check_files(o.files, title_of(o), report::checks_of(data));
  o.json ? print_json(report::json_families(data)) : print_document(report::families_document(data));
  return exit_code_of(o, data.failed(), data.open());
}

int compare(CompareOptions o) {
  check_flags(o);
  std::vector<std::string> campaigns;
  std::unique_ptr<store::Store> store;
  std::function<void(compare::Material&)> prepare;
  if (o.run) {
    const auto catalog = catalog_at_hand();
    const auto sides = campaign_sides(o, catalog);
    const auto groups =
        sides.empty() ? groups_of(o, catalog) : stored_groups(o, sides, catalog);  // refused before a store is made
    if (!sides.empty()) prepare = [sides, groups](compare::Material& material) { give_to(sides, groups, material); };
    store = store::open_store(o.work.store, store::Access::create);
    campaigns = measure_missing(o, groups, *store, catalog);
    if (campaigns.empty()) {
      std::fprintf(stderr, "assay: stopped; the same command goes on from here\n");
      return kExitStopped;
    }
  } else {
    store = store::open_store(o.work.store, store::Access::read);
  }
  const auto chosen = choose(o, *store, campaigns, prepare);
  if (!o.others.empty() || o.to == "fastest") return print_families(o, compared_all(o, chosen));
  const auto data = compared(o, *store, chosen);
  if (data.comparisons.all.empty()) {
    fail(ErrorKind::usage,
         "nothing to compare: {} trials only {} has, {} only {}. Trials are compared that are equal but for what the "
         "sides "
         "say, on one platform; --run measures what is missing.",
         data.comparisons.only_a, shown(data.a), data.comparisons.only_b, shown(data.b));
  }
  write_check_files(o.files, fmt::format("{} against {}", data.b, data.a), report::checks_of(data));
  o.json ? print_json(report::json_comparison(data)) : print_document(report::comparison_document(data));
  return exit_code_of(o, data.failed(), data.open());
}

void add_compare(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<CompareOptions>();
  command
      .add_option("first", o->a,
                  "Take this side: a campaign, worker==release, worker, setting=value, platform:ID, date or trial:ID")
      ->required();
  command.add_option("second", o->b, "Compare with this side; leave it out where the first is a lock-step campaign");
  command.add_option("others", o->others,
                     "Compare these sides too: each with each, at one error rate for all verdicts");
  command.add_option("--to", o->to, "Give the ratios of several sides to this one [first]")
      ->check(CLI::IsMember({"first", "fastest"}));
  command.add_option("--gate", o->gate,
                     "Exit with 3 if a slow-down of at least this is proved, such as 3%, and with 5 if it is neither "
                     "proved nor excluded");
  command.add_option("--undecided", o->undecided, "Let a gate that cannot decide pass or fail [exit with 5]")
      ->check(CLI::IsMember({"pass", "fail"}));
  command.add_option(
      "--of", o->of,
      "Compare this time of generated text: first_token, or token, the mean after it; or accuracy, the time "
      "to it where digits are learnt [the whole step]");
  command.add_flag("--explain", o->explain, "Split each difference into phases and layers");
  command.add_flag("--run", o->run, "Measure what is missing first, in lock-step where all can be alive at once");
  command.add_flag("--apart", o->apart,
                   "With --run: measure whole runs in turns, for sides too large to be alive at once");
  command.add_option("--runs", o->runs, "With --run: measure this many groups, or runs of each side")
      ->capture_default_str();
  command.add_option("--seed", o->seed, "With --run: draw the order and everything random from this seed")
      ->capture_default_str();
  command.add_flag("--again", o->again, "With --run: measure again, whatever is stored");
  add_json_flag(command, o->json);
  add_check_files(command, o->files);
  command
      .add_option_function<std::string>(
          "--network", [o](const std::string& text) { o->plan.axes.emplace_back("network", text); },
          "Measure these networks (comma list)")
      ->group(kWorkloadGroup);
  add_plan_flags(command, o->plan);
  add_measure_flags(command, o->measure);
  add_work_flags(command, o->work);
  command.footer(
      "assay compare --run onnxruntime==1.24.4 onnxruntime==1.31.1 --network resnet50\n"
      "assay compare --run pytorch onnxruntime openvino --network resnet50 --to fastest\n"
      "assay compare nightly@1 nightly@2 --gate 3%");
  o->words = invocation.words;
  command.callback([o, &invocation] { invocation.exit_code = compare(*o); });
}

}  // namespace

const Command commands::compare{
    "compare", "Decide whether the second is slower than the first: a ratio, its interval, a verdict", add_compare};

}  // namespace assay::cli
