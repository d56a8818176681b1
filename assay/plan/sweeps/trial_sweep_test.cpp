#include "assay/plan/sweeps/trial_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "assay/plan/plan_fixture.hpp"

namespace assay::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TrialSweep sweep_of(const std::vector<std::pair<std::string, std::string>>& values) {
  TrialSweep sweep;
  sweep.add("network", {"toy"});
  sweep.add("worker", {"fake"});
  for (const auto& [axis, text] : values) sweep.add(axis, {text});
  return sweep;
}

std::vector<Trial> trials_of(const TrialSweep& sweep) {
  return expand({sweep}, 10, test_catalog());
}

template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

std::string refusal(const std::string& axis, const std::string& text) {
  return error_of([&] { trials_of(sweep_of({{axis, text}})); });
}

TEST(TrialSweep, every_combination_is_a_trial_and_the_last_axis_varies_fastest) {
  const auto trials = trials_of(sweep_of({{"settings.intra_op", "1,2"}, {"batch", "8,4"}, {"mode", "infer,train"}}));
  std::vector<std::string> seen;
  for (const auto& trial : trials) {
    seen.push_back(
        fmt::format("{} {} {}", name_of(trial.workload.mode), trial.workload.batch, *trial.settings.intra_op));
  }
  EXPECT_THAT(seen, ElementsAre("infer 8 1", "infer 8 2", "infer 4 1", "infer 4 2", "train 8 1", "train 8 2",
                                "train 4 1", "train 4 2"));
}

TEST(TrialSweep, every_field_of_a_trial_can_be_set) {
  TrialSweep sweep;
  for (const auto& [axis, text] :
       std::vector<std::pair<std::string, std::string>>{{"network", "toy"},
                                                        {"worker", "open==1"},
                                                        {"mode", "train"},
                                                        {"batch", "2"},
                                                        {"precision", "bf16"},
                                                        {"data", "disk"},
                                                        {"data_count", "100"},
                                                        {"data_side", "256"},
                                                        {"data_chunks", "4"},
                                                        {"options.width", "3"},
                                                        {"options.rate", "0.5"},
                                                        {"options.deep", "true"},
                                                        {"options.kind", "wide"},
                                                        {"settings.instances", "1"},  // ranks go with no others
                                                        {"settings.inter_op", "3"},
                                                        {"settings.intra_op", "4"},
                                                        {"settings.library_threads", "5"},
                                                        {"settings.affinity", "spread"},
                                                        {"settings.memory_bind", "local"},
                                                        {"settings.allocator", "jemalloc"},
                                                        {"settings.spin", "false"},
                                                        {"settings.compile", "inductor"},
                                                        {"settings.layout", "nhwc"},
                                                        {"settings.loaders", "0"},
                                                        {"settings.prefetch", "6"},
                                                        {"settings.page_cache", "cold"},
                                                        {"settings.bucket_bytes", "25MiB"},
                                                        {"settings.env.KMP_AFFINITY", "fine,compact"},
                                                        {"placement.device", "cuda"},
                                                        {"placement.ranks", "8"},
                                                        {"placement.ranks_per_node", "4"}}) {
    sweep.add(axis, {text});
  }
  WorkerInfo open = fake_worker("1");
  open.name = "open";
  open.ranks = true;
  open.precisions = open.devices = open.settings = open.data = {"*"};
  const auto trials = expand({sweep}, 1, Catalog({open}));
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(to_json(trials[0]), json::parse(R"({
    "workload": {"network": "toy", "graph": null, "mode": "train", "batch": 2, "precision": "bf16", "data": "disk",
                 "data_count": 100, "data_side": 256, "data_chunks": 4, "options": {"width": 3, "rate": 0.5, "deep": true, "kind": "wide"}, "command": null, "generate": null, "load": null},
    "worker": {"name": "open", "release": "1"},
    "settings": {"instances": 1, "inter_op": 3, "intra_op": 4, "library_threads": 5, "affinity": "spread",
                 "memory_bind": "local", "allocator": "jemalloc", "spin": false, "compile": "inductor",
                 "layout": "nhwc", "loaders": 0, "prefetch": 6, "page_cache": "cold",
                 "prefill_threads": null, "prefill_tokens": null, "bucket_bytes": 26214400, "env": {"KMP_AFFINITY": "fine,compact"}},
    "placement": {"device": "cuda", "ranks": 8, "ranks_per_node": 4, "links": null}})"));
}

TEST(TrialSweep, has_an_axis_for_every_setting_of_core) {
  const json settings = to_json(Settings{});
  for (const auto& [name, value] : settings.items()) {
    EXPECT_NO_THROW(axis_name("settings." + name + (name == "env" ? ".X" : ""))) << name;
  }
}

TEST(TrialSweep, the_order_of_flags_does_not_change_the_trials) {
  const auto a = trials_of(sweep_of({{"batch", "1,2"}, {"options.noise", "1,2"}}));
  const auto b = trials_of(sweep_of({{"options.noise", "1,2"}, {"batch", "1,2"}}));
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(trial_id(a[i]), trial_id(b[i]));
}

TEST(TrialSweep, equal_values_make_one_trial) {
  EXPECT_EQ(trials_of(sweep_of({{"batch", "1,1,1-2+1"}})).size(), 2u);
  EXPECT_EQ(trials_of(sweep_of({{"options.x", "1,1.0,1e0"}})).size(), 1u);
  EXPECT_EQ(trials_of(sweep_of({{"worker", "fake==1.10.0"}})).size(), 1u);  // "fake" is 1.10.0 too
  const auto one = sweep_of({{"batch", "1,2"}});
  const auto two = sweep_of({{"batch", "2,4"}});
  EXPECT_EQ(expand({one, two}, 1, test_catalog()).size(), 3u);
}

TEST(TrialSweep, a_combination_is_never_lost_as_a_duplicate) {
  std::set<std::string> ids;
  const auto trials = trials_of(sweep_of({{"options.a", "1,2,null"},
                                          {"options.b", "1,2,null"},
                                          {"settings.env.A", "null"},
                                          {"settings.intra_op", "null,1"}}));
  for (const auto& trial : trials) ids.insert(trial_id(trial));
  EXPECT_EQ(ids.size(), 3u * 3u * 2u);
}

TEST(TrialSweep, the_release_of_the_worker_is_filled_in) {
  EXPECT_EQ(trials_of(sweep_of({}))[0].worker.release, "1.10.0");
}

TEST(TrialSweep, null_leaves_a_setting_to_the_framework) {
  const auto trials = trials_of(sweep_of({{"settings.intra_op", "null,2"}}));
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_FALSE(trials[0].settings.intra_op);
  EXPECT_EQ(trials[1].settings.intra_op, 2);
  EXPECT_THAT(refusal("batch", "null"), HasSubstr("batch: a value is missing"));
}

TEST(TrialSweep, quoted_options_are_text) {
  TrialSweep sweep = sweep_of({});
  sweep.add("options.a", {"1,2", true});
  sweep.add("options.b", {"null", true});
  const auto trials = trials_of(sweep);
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(std::get<std::string>(trials[0].workload.options.at("a")), "1,2");
  EXPECT_EQ(std::get<std::string>(trials[0].workload.options.at("b")), "null");
}

TEST(TrialSweep, a_command_names_its_network_and_worker) {
  TrialSweep sweep;
  sweep.command = {"python3", "train.py", "{batch}"};
  sweep.add("batch", {"1,2"});
  const auto trials = trials_of(sweep);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].workload.network, "command");
  EXPECT_EQ(trials[0].worker.name, "command");
  EXPECT_THAT(*trials[0].workload.command, ElementsAre("python3", "train.py", "{batch}"));
  sweep.command = {"a\xff"};
  EXPECT_THAT(error_of([&] { trials_of(sweep); }), HasSubstr("command: byte 2 (0xff) is not UTF-8"));
}

TEST(TrialSweep, bad_values_name_the_axis_and_the_fix) {
  EXPECT_THAT(refusal("mode", "trian"), HasSubstr("mode: 'trian' is not one of its values. Did you mean 'train'?"));
  EXPECT_THAT(refusal("batch", "0"), HasSubstr("batch: 0 is outside 1 to"));
  EXPECT_THAT(refusal("settings.spin", "yes"), HasSubstr("'yes' is neither true nor false"));
  EXPECT_THAT(refusal("settings.env.API_TOKEN", "x"), HasSubstr("looks like a secret"));
  EXPECT_THAT(refusal("settings.env.A", std::string("x\0y", 3)), HasSubstr("is a zero byte"));
  EXPECT_THAT(refusal("settings.intraop", "1"), HasSubstr("Did you mean 'settings.intra_op'?"));
  EXPECT_THAT(refusal("settings.inter_op", "1"), HasSubstr("has no such setting"));
  EXPECT_THAT(refusal("placement.ranks_per_node", "0"), HasSubstr("outside 1 to"));
  EXPECT_THAT(refusal("options.", "1"), HasSubstr("cannot be a name"));
  EXPECT_THAT(refusal("data", "a\x1b"), HasSubstr("is a control character"));
  EXPECT_THAT(refusal("data", "a\xc2\x9b"), HasSubstr("is a control character"));
  EXPECT_THAT(refusal("data", "a\xed\xa0\x80"), HasSubstr("is not UTF-8"));  // a surrogate
  for (const char* number : {".nan", ".inf", "-.inf", "nan", "inf", "1e999"}) {
    EXPECT_THAT(refusal("options.x", number), HasSubstr("not a finite number")) << number;
  }
  EXPECT_THAT(refusal("options.x", "99999999999999999999"), HasSubstr("is beyond 9007199254740992"));
}

TEST(TrialSweep, a_missing_network_or_worker_is_named) {
  TrialSweep sweep;
  EXPECT_THAT(error_of([&] { trials_of(sweep); }), HasSubstr("network: it is missing"));
  sweep.add("network", {"toy"});
  EXPECT_THAT(error_of([&] { trials_of(sweep); }), HasSubstr("worker: it is missing"));
}

TEST(TrialSweep, limits_hold_before_anything_is_expanded) {
  const auto wide = sweep_of({{"batch", "1-10000+1"}, {"options.a", "1-10000+1"}, {"options.b", "1-10000+1"}});
  EXPECT_THAT(error_of([&] { trials_of(wide); }), HasSubstr("trials: there would be more than 100000"));
  const auto long_runs = sweep_of({{"batch", "1-1001+1"}});
  EXPECT_THAT(error_of([&] { expand({long_runs}, 10'000, test_catalog()); }), HasSubstr("more than 10000000 runs"));
  EXPECT_THAT(error_of([&] { expand({long_runs}, 0, test_catalog()); }), HasSubstr("runs: 0 is below 1"));
  const std::vector<TrialSweep> many(20, sweep_of({{"batch", "1-10000+1"}}));
  EXPECT_THAT(error_of([&] { expand(many, 1, test_catalog()); }), HasSubstr("more than 100000"));
  auto heavy = sweep_of({{"batch", "1-10000+1"}});
  heavy.add("options.a", {std::string(100'000, 'x')});
  EXPECT_THAT(error_of([&] { trials_of(heavy); }), HasSubstr("would take more than 67108864 bytes"));
}

/// Workers by what they follow: intra_op alone, several operators at once too, or no number of threads.
Catalog threading_catalog() {
  auto both = fake_worker();
  both.name = "both";
  both.settings = {"inter_op", "intra_op"};
  auto none = fake_worker();
  none.name = "none";
  none.settings = {};
  none.inert = {{"intra_op", "it runs in the thread that called it"}};
  auto command = command_worker();
  command.settings = {"intra_op"};
  return Catalog({fake_worker(), both, none, command});
}

std::vector<std::string> settings_with(TrialSweep sweep, const std::string& threads) {
  sweep.threads.push_back({threads});
  std::vector<std::string> out;
  for (const auto& trial : expand({sweep}, 1, threading_catalog())) {
    out.push_back(trial.worker.name + " " + title(trial.settings));
  }
  return out;
}

TrialSweep sweep_with_worker(const std::string& worker) {
  TrialSweep sweep;
  sweep.add("network", {"toy"});
  sweep.add("worker", {worker});
  return sweep;
}

TEST(Threads, become_what_each_worker_follows) {
  EXPECT_THAT(settings_with(sweep_with_worker("fake"), "1,2"), ElementsAre("fake intra_op=1", "fake intra_op=2"));
  EXPECT_THAT(settings_with(sweep_with_worker("fake,both"), "2"),
              ElementsAre("fake intra_op=2", "both inter_op=1 intra_op=2"));
  auto several = sweep_with_worker("both");
  several.add("settings.inter_op", {"3"});
  EXPECT_THAT(settings_with(several, "2"), ElementsAre("both inter_op=3 intra_op=2"));
}

TEST(Threads, reach_a_program_by_its_arguments_or_by_openmp) {
  TrialSweep sweep;
  sweep.command = {"prog", "-j{threads}"};
  EXPECT_THAT(settings_with(sweep, "2"), ElementsAre("command intra_op=2"));
  sweep.command = {"prog"};
  EXPECT_THAT(settings_with(sweep, "1,2"), ElementsAre("command OMP_NUM_THREADS=1", "command OMP_NUM_THREADS=2"));
}

TEST(Threads, are_refused_where_nothing_follows_them_or_they_are_said_twice) {
  EXPECT_THAT(error_of([] { settings_with(sweep_with_worker("none"), "2"); }),
              HasSubstr("--threads: the worker none 1.0.0 follows no number of threads: it runs in the thread"));
  auto twice = sweep_with_worker("fake");
  twice.add("settings.intra_op", {"1"});
  EXPECT_THAT(error_of([&] { settings_with(twice, "2"); }), HasSubstr("--threads sets settings.intra_op"));
  EXPECT_THAT(error_of([] { settings_with(sweep_with_worker("fake"), "0"); }), HasSubstr("intra_op"));
}

}  // namespace
}  // namespace assay::plan
