#include <sched.h>

#include <algorithm>
#include <memory>

#include "assay/core/text/hash.hpp"
#include "assay/core/text/number.hpp"
#include "assay/model/tables/measured.hpp"
#include "assay/report/results/roofs/machines.hpp"
#include "assay/report/subjects/fit.hpp"
#include "assay/report/subjects/predict/accuracy.hpp"
#include "assay/store/named_artifact.hpp"
#include "assay/store/selection.hpp"
#include "cli/command.hpp"
#include "cli/commands/fit_accuracy.hpp"
#include "cli/commands/fit_kernels.hpp"
#include "cli/commands/fit_link.hpp"
#include "cli/fitter.hpp"
#include "cli/flags/answer.hpp"
#include "cli/flags/choice.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"

namespace assay::cli {
namespace {

struct FitFlags {
  std::string file;
  std::string store = "assay.db";
  std::string campaign;
  model::Columns columns;
  std::vector<std::string> roles;
  std::vector<std::string> where;
  std::vector<std::string> at;
  model::FitRequest request;
  std::string name;
  std::string score;
  std::string out;
  std::string table;
  AnswerFlags answer;
  bool link = false;
  bool across_platforms = false;
  std::string of;
  FitAccuracyFlags accuracy;
  LinkFlags collectives;
  KernelFlags kernels;
};

void read_assignments(FitFlags& o) {
  for (const auto& text : o.roles) {
    const auto [name, role] = split_assignment(text, "--role");
    o.columns.roles[name] = choice_of<model::Role>(role, "--role " + name);
  }
  for (const auto& text : o.where) {
    const auto [name, value] = split_assignment(text, "--where");
    o.columns.where[name] = value;
  }
}

model::Frame frame_of_input(const FitFlags& o) {
  if (!o.file.empty() && !o.of.empty()) {
    fail(ErrorKind::usage, "--of {}: a CSV file has its times in a column. Name that with --time.", o.of);
  }
  if (!o.file.empty()) return model::read_csv(o.file);
  const auto store = store::open_store(o.store, store::Access::read);
  store::Filter filter;
  if (!o.campaign.empty()) filter.campaign = store::choose_campaign(store->campaigns(), o.campaign, o.store).id;
  const auto machines = o.across_platforms ? report::known_machines(*store) : model::Machines();
  const auto what = o.of.empty() ? TimeOf::step : choice_of<TimeOf>(o.of, "--of");
  auto frame =
      model::frame_of(store->trials(filter), store->runs(filter), o.across_platforms ? &machines : nullptr, what);
  if (frame.rows.empty()) {
    fail(ErrorKind::usage, "{} has no run that counts{}. `assay run` measures; a CSV file can be named instead.",
         store::shown_location(o.store), o.campaign.empty() ? "" : " in that campaign");
  }
  return frame;
}

std::string title_of(const FitFlags& o, const model::Group& group) {
  auto name = !o.name.empty() ? o.name : !o.campaign.empty() ? o.campaign : o.file;
  if (!group.title.empty()) name += (name.empty() ? "" : ": ") + group.title;
  return name;
}

std::int64_t usable_threads() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/// Kept with what it was made from, so that the same fit twice is one artifact.
void keep(const FitFlags& o, const model::FitRequest& request, const model::Model& model) {
  const auto store = store::open_store(o.store, store::Access::write);
  auto inputs = to_json(request);
  inputs.erase("table");
  inputs.erase("threads");
  inputs["data"] = model.data;
  store->put_artifact("model", hash_hex(canonical_json(inputs)), to_json(model));
}

model::Model find_model(const std::string& named, const std::string& store) {
  if (store::names_a_file(named)) return model::read_model(named);
  auto model = from_json<model::Model>(
      store::named_artifact(store, named,
                            {"model", "--score", "`assay fit --campaign` keeps one; a file's name ends with .json."}),
      "model");
  check(model);
  return model;
}

double number_of(const std::string& text, const std::string& flag) {
  const double value = parse_number<double>(text).value_or(0);
  if (!(value > 0)) fail(ErrorKind::usage, "{}: {} is not a number above zero.", flag, shown(text));
  return value;
}

/// What the model says of the point that --at names.
model::Prediction say(const FitFlags& o, const model::Model& model) {
  std::vector<model::Factor> factors;
  std::vector<double> values;
  for (const auto& text : o.at) {
    const auto assigned = split_assignment(text, "--at");
    const auto& name = assigned.first;
    const auto known = [&](const auto& one) { return one.factor == name; };
    if (std::none_of(model.ranges.begin(), model.ranges.end(), known) &&
        std::none_of(model.fixed.begin(), model.fixed.end(), known)) {
      fail(ErrorKind::usage, "--at {}: the model has no such factor.", shown(name));
    }
    if (name == model.law.by) {
      factors.push_back({name, model::Role::extrinsic, std::vector<std::string>{assigned.second}});
      values.push_back(1);
      continue;
    }
    factors.push_back({name});
    values.push_back(number_of(assigned.second, "--at " + name));
  }
  return model::predict(model, factors, values);
}

/// What the model says of that point, and what it comes to.
std::optional<model::ToAccuracy> add_point(const FitFlags& o, const model::Model& model, const model::Prediction& said,
                                           report::Document& text) {
  text.paragraph(report::prediction_sentence(said));
  auto to_accuracy = time_to_accuracy(o.accuracy, o.store, model, o.at, said);
  if (to_accuracy) text.paragraph(report::to_accuracy_sentence(*to_accuracy));
  return to_accuracy;
}

int score_known(const FitFlags& o) {
  const auto model = find_model(o.score, o.store);
  json out = json::object();
  report::Document text;
  if (!o.at.empty()) {
    const auto said = say(o, model);
    out["prediction"] = to_json(said);
    if (const auto to_accuracy = add_point(o, model, said, text)) out["to_accuracy"] = to_json(*to_accuracy);
  } else {
    auto columns = o.columns;
    if (!columns.by.empty() && columns.by != model.law.by) {
      fail(ErrorKind::usage, "--by {}: the model {}. Leave --by out.", shown(columns.by),
           model.law.by.empty() ? "tells no levels apart" : "tells those of " + model.law.by + " apart");
    }
    columns.by = model.law.by;
    const auto groups = groups_of(frame_of_input(o), columns);
    out["scores"] = json::array();
    for (const auto& group : groups) {
      const auto scored = model::score(model, group.table);
      out["scores"].push_back({{"group", group.title}, {"score", to_json(scored)}});
      if (!group.title.empty()) text.paragraph(group.title);
      text.paragraph(report::score_sentence(model, scored));
    }
  }
  answer(o.answer, text, [&] { return out; });
  return 0;
}

/// Laws of kernels have their tables from flags of their own: what else says data would change nothing.
void check_kernels(const FitFlags& o) {
  const bool other_data = !o.file.empty() || !o.campaign.empty() || o.link || !o.collectives.collectives.empty();
  const bool other_ask = !o.score.empty() || !o.at.empty() || !o.table.empty() || !o.where.empty() ||
                         !o.roles.empty() || !o.columns.by.empty() || !o.columns.factors.empty() ||
                         !o.columns.ignored.empty() || !o.name.empty() || !o.request.families.empty() ||
                         o.across_platforms || !o.accuracy.until.empty();
  if (!other_data && !other_ask) return;
  fail(ErrorKind::usage,
       "--kernels and --device go with --out and --json alone: leave other data and the flags of its laws out.");
}

int fit(FitFlags& o) {
  if (!o.kernels.tables.empty() || !o.kernels.device.empty()) {
    check_kernels(o);
    fit_kernels(o.kernels, o.out, o.answer);
    return 0;
  }
  const bool has_files = !o.collectives.collectives.empty();
  if (has_files && (!o.campaign.empty() || !o.file.empty())) {
    fail(ErrorKind::usage, "--collectives: those files are what is fitted. Leave {} out.",
         o.campaign.empty() ? shown_path(o.file) : "--campaign");
  }
  if (o.link && !has_files && o.campaign.empty()) {
    fail(ErrorKind::usage, "--link needs --campaign NAME, whose collectives are fitted, or --collectives FILE.");
  }
  if (o.link || has_files) {
    fit_link(o.collectives, o.store, o.campaign, o.answer);
    return 0;
  }
  check_fit_accuracy_flags(o.accuracy, o.at);
  read_assignments(o);
  if (!o.score.empty()) return score_known(o);
  if (!o.file.empty() && !o.campaign.empty()) fail(ErrorKind::usage, "name a CSV file or --campaign, not both.");
  const auto frame = frame_of_input(o);
  if (!o.table.empty()) {
    write_output(o.table, model::csv_of(frame));
    return 0;
  }
  const auto groups = groups_of(frame, o.columns);
  if (groups.size() > 1 && !o.out.empty()) {
    fail(ErrorKind::usage, "--out: there are {} groups, and so as many models. Choose one with --where.",
         groups.size());
  }
  json models = json::array();
  report::Document text;
  for (const auto& group : groups) {
    o.request.name = title_of(o, group);
    o.request.table = group.table;
    const auto model = fit_model(o.request);
    if (o.file.empty()) keep(o, o.request, model);
    if (!o.out.empty()) write_output(o.out, to_json(model).dump(2) + "\n");
    models.push_back(to_json(model));
    if (!text.empty()) text.gap();
    text.append(report::model_document(model));
    if (!o.at.empty()) add_point(o, model, say(o, model), text);
  }
  answer(o.answer, text, [&] { return json({{"models", models}}); });
  return 0;
}

void add_fit(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<FitFlags>();
  o->request.threads = usable_threads();
  auto& request = o->request;
  command.add_option("file", o->file, "Fit this CSV file with a line of names [records of the store]");
  add_store_option(command, o->store);
  command.add_option("--campaign", o->campaign, "Fit this campaign of the store only, by name or id");
  command
      .add_option("--time", o->columns.time,
                  "Take the time from this column; a name ending with _ms, _us, _ns has that unit")
      ->capture_default_str();
  command.add_option("--factors", o->columns.factors, "Explain it by these columns [all of numbers]")->delimiter(',');
  command.add_option("--ignore", o->columns.ignored, "Leave these columns out")->delimiter(',');
  command.add_option("--by", o->columns.by,
                     "Fit one law over the texts of this column, such as framework: constants that differ are each "
                     "one's own, and the others are shared");
  command.add_option("--role", o->roles,
                     "Set the role of a column, NAME=intrinsic|extrinsic|parallel, where the usual one is wrong");
  command.add_option("--where", o->where, "Keep only rows with this text in this column, NAME=TEXT");
  command.add_option("--family", request.families, "Try only these families: generic, ssgd, ernest, terms [all]")
      ->delimiter(',');
  command
      .add_option("--evaluations", request.evaluations,
                  "Evaluate the cost of the generic law this often, by differential evolution")
      ->capture_default_str();
  command.add_option("--penalty", request.penalty, "Penalise the sizes of its constants by this")
      ->capture_default_str();
  command.add_option("--confidence", request.confidence, "Give intervals of this confidence")->capture_default_str();
  command.add_option("--draws", request.draws, "Draw the data again this often, for intervals of constants")
      ->capture_default_str();
  command.add_option("--fit-threads", request.threads, "Use this many threads; they do not change the fit [all CPUs]");
  command.add_option("--seed", request.seed, "Draw everything random from this seed")->capture_default_str();
  command.add_option("--name", o->name, "Name the model [as the campaign or the file]");
  command.add_option("--out", o->out, "Write the model to this file, as JSON")->type_name("PATH");
  command.add_option("--table", o->table, "Fit nothing: write the table that would be fitted to this file, as CSV")
      ->type_name("PATH");
  command.add_option("--score", o->score,
                     "Fit nothing: score this model (a .json file, or a name in the store) on this data");
  command.add_option("--at", o->at, "Give the time at these factors, NAME=VALUE for each");
  add_fit_accuracy_flags(command, o->accuracy);
  command.add_option("--of", o->of,
                     "Fit the time of this part of generated text: first_token, or token, over the context it follows "
                     "[the whole step]");
  command.add_flag("--across-platforms", o->across_platforms,
                   "Fit one law over several machines: their measured peak, memory bandwidth and links are factors");
  command.add_flag("--link", o->link, "Fit what a message costs between ranks to the collectives of --campaign");
  add_link_flags(command, o->collectives);
  add_kernel_flags(command, o->kernels);
  add_answer_flags(command, o->answer);
  command.footer(
      "Columns of text split the rows into groups, with a law for each; --by joins those of one column in one law.\n"
      "assay fit times.csv --time step_ms\n"
      "assay fit times.csv --time step_ms --by framework --at framework=pytorch --at batch=64\n"
      "assay fit --campaign sweep --where mode=train --out law.json\n"
      "assay fit --score law.json --at batch=64 --at threads=2\n"
      "assay fit --score law.json --at batch=32 --until 'accuracy>=97%' --training network=lenet\n"
      "assay fit --link --campaign links\n"
      "assay fit --kernels gemm.csv,attention.csv --device h100 --out h100.json");
  command.callback([o, &invocation] { invocation.exit_code = fit(*o); });
}

}  // namespace

const Command commands::fit{"fit", "Fit a law of the time of a step to what was measured: a formula with intervals",
                            add_fit};

}  // namespace assay::cli
