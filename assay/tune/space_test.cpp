#include "assay/tune/space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/core/error.hpp"

namespace assay::tune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

GuideInput situation_on(const std::string& machine, std::optional<double> quota = {}) {
  return {resources_of(platform::topology_from_synthetic(machine), quota), network::Width{58, 22}, {}};
}

plan::WorkerInfo worker_with(std::vector<std::string> settings) {
  plan::WorkerInfo worker;
  worker.name = "some";
  worker.settings = std::move(settings);
  return worker;
}

SpaceRequest request_for(GoalMetric metric) {
  Trial trial;
  trial.workload.network = "toy";
  return {{trial}, {}, metric};
}

std::vector<std::string> titles(const Space& space) {
  std::vector<std::string> out;
  for (const auto& one : space.candidates) out.push_back(title(one.settings));
  return out;
}

TEST(Resources, count_what_a_quota_leaves) {
  const auto topology = platform::topology_from_synthetic("pack:1 core:4 pu:2");
  EXPECT_EQ(resources_of(topology, {}).usable_threads(), 8);
  EXPECT_EQ(resources_of(topology, {}).usable_cores(), 4);
  EXPECT_EQ(resources_of(topology, 1).usable_threads(), 1);
  EXPECT_EQ(resources_of(topology, 2.5).usable_threads(), 3);
  EXPECT_EQ(resources_of(topology, 0.2).usable_threads(), 1);
  EXPECT_FALSE(resources_of(topology, 8).quota);  // allows every CPU
  EXPECT_EQ(title(resources_of(topology, 1.5)), "1 socket, 1 NUMA node, 4 cores, 8 threads, a quota of 1.5 CPUs");
}

TEST(ThreadCounts, are_powers_of_two_what_lies_between_and_the_end) {
  EXPECT_THAT(thread_counts(1), ElementsAre(1));
  EXPECT_THAT(thread_counts(2), ElementsAre(1, 2));
  EXPECT_THAT(thread_counts(5), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(thread_counts(48), ElementsAre(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48));
}

TEST(Space, of_latency_on_two_cores_is_every_number_of_threads) {
  const auto space = space_of(request_for(GoalMetric::latency), worker_with({"inter_op", "intra_op"}),
                              situation_on("pack:1 core:2 pu:1"));
  EXPECT_THAT(titles(space), ElementsAre("inter_op=1 intra_op=1", "inter_op=1 intra_op=2", "inter_op=2 intra_op=1",
                                         "inter_op=2 intra_op=2"));
  EXPECT_THAT(space.varied, ElementsAre("inter_op", "intra_op"));
  EXPECT_THAT(space.left_out, Contains(HasSubstr("instances: ")));
}

TEST(Space, of_throughput_binds_several_instances_and_bounds_all_threads) {
  const auto space =
      space_of(request_for(GoalMetric::throughput), worker_with({"intra_op"}), situation_on("pack:1 core:2 pu:1"));
  EXPECT_THAT(titles(space), ElementsAre("intra_op=1", "intra_op=2", "instances=2 intra_op=1",
                                         "affinity=compact instances=2 intra_op=1", "instances=2 intra_op=2",
                                         "affinity=compact instances=2 intra_op=2"));
  for (const auto& one : space_of(request_for(GoalMetric::throughput), worker_with({"inter_op", "intra_op"}),
                                  situation_on("pack:2 [numa] core:8 pu:1"))
                             .candidates) {
    const auto& s = one.settings;
    EXPECT_LE(s.instances.value_or(1) * s.inter_op.value_or(1) * s.intra_op.value_or(1), 32) << title(s);
    EXPECT_TRUE(s.instances || !s.affinity) << title(s);
    EXPECT_TRUE(s.memory_bind != MemoryBind::local || s.affinity) << title(s);
  }
}

TEST(Space, of_training_has_one_instance_unless_more_are_named) {
  auto request = request_for(GoalMetric::throughput);
  request.named[0].workload.mode = Mode::train;
  const auto situation = situation_on("pack:1 core:2 pu:1");
  const auto space = space_of(request, worker_with({"intra_op"}), situation);
  EXPECT_THAT(titles(space), ElementsAre("intra_op=1", "intra_op=2"));
  EXPECT_THAT(space.left_out, Contains("instances: each would train a network of its own"));
  request.named.push_back(request.named[0]);
  request.named[1].settings.instances = 2;
  request.fixed = {"instances"};
  EXPECT_THAT(
      titles(space_of(request, worker_with({"intra_op"}), situation)),
      ElementsAre("intra_op=1", "intra_op=2", "instances=2 intra_op=1", "affinity=compact instances=2 intra_op=1",
                  "instances=2 intra_op=2", "affinity=compact instances=2 intra_op=2"));
}

TEST(Space, of_generation_varies_how_prompts_are_read) {
  auto request = request_for(GoalMetric::tokens);
  request.named[0].workload.mode = Mode::generate;
  request.named[0].workload.generate = Generation{.prompt_tokens = 100, .cache_precision = {}};
  const auto situation = situation_on("pack:1 core:2 pu:1");
  const auto space = space_of(request, worker_with({"intra_op", "prefill_threads", "prefill_tokens"}), situation);
  // As many threads for prompts as for tokens is what nothing set means; pieces of 128 and more are the whole prompt.
  EXPECT_THAT(
      titles(space),
      ElementsAre("intra_op=1", "intra_op=1 prefill_tokens=32", "intra_op=1 prefill_threads=2",
                  "intra_op=1 prefill_threads=2 prefill_tokens=32", "intra_op=2 prefill_threads=1",
                  "intra_op=2 prefill_threads=1 prefill_tokens=32", "intra_op=2", "intra_op=2 prefill_tokens=32"));
  EXPECT_THAT(space.left_out, Contains(HasSubstr("instances: each would hold the weights again")));
  // One that reads as it writes; a piece must have a token of each of 40 sequences.
  request.named.push_back(request.named[0]);
  request.named[1].workload.generate->sequences = 40;
  const auto other = space_of(request, worker_with({"intra_op", "prefill_tokens"}), situation_on("pack:1 core:1 pu:1"));
  EXPECT_THAT(titles(other),
              ElementsAre("intra_op=1", "intra_op=1 prefill_tokens=32", "intra_op=1", "intra_op=1 prefill_tokens=128",
                          "intra_op=1 prefill_tokens=512", "intra_op=1 prefill_tokens=2048"));
  EXPECT_THAT(other.varied, ElementsAre("prefill_tokens", "sequences"));
  EXPECT_THAT(other.left_out, Contains("prefill_threads: some has no such setting"));
}

TEST(Space, under_a_quota_has_few_threads_and_binds_nothing) {
  const auto space =
      space_of(request_for(GoalMetric::throughput), worker_with({"intra_op"}), situation_on("pack:1 core:8 pu:1", 1));
  EXPECT_THAT(titles(space), ElementsAre("intra_op=1", "intra_op=2"));
  EXPECT_THAT(space.left_out, Contains(HasSubstr("affinity: under a quota")));
}

TEST(Space, varies_what_the_worker_follows_and_the_machine_offers) {
  auto worker = worker_with({"intra_op", "spin"});
  worker.inert = {{"inter_op", "one operator at a time"}};
  auto situation = situation_on("pack:1 core:1 pu:1");
  situation.allocators = {Allocator::tcmalloc, Allocator::jemalloc};
  const auto space = space_of(request_for(GoalMetric::latency), worker, situation);
  EXPECT_THAT(titles(space), ElementsAre("intra_op=1", "intra_op=1 spin=false", "allocator=tcmalloc intra_op=1",
                                         "allocator=tcmalloc intra_op=1 spin=false", "allocator=jemalloc intra_op=1",
                                         "allocator=jemalloc intra_op=1 spin=false"));
  EXPECT_THAT(space.varied, ElementsAre("allocator", "spin"));
  EXPECT_THAT(space.left_out, Contains("inter_op: one operator at a time"));
}

TEST(Space, takes_what_is_named_as_it_is_and_precision_only_by_name) {
  auto request = request_for(GoalMetric::latency);
  request.named[0].settings.intra_op = 64;
  request.fixed = {"intra_op"};
  const auto one = space_of(request, worker_with({"intra_op"}), situation_on("pack:1 core:2 pu:1"));
  EXPECT_THAT(titles(one), ElementsAre("intra_op=64"));
  EXPECT_THAT(one.varied, Not(Contains("precision")));
  request.named.push_back(request.named[0]);
  request.named[1].workload.precision = "bf16";
  EXPECT_THAT(space_of(request, worker_with({"intra_op"}), situation_on("pack:1 core:2 pu:1")).varied,
              ElementsAre("precision"));
}

TEST(SharedRule, gives_each_instance_its_cores) {
  const auto rule = shared_rule(worker_with({"inter_op", "intra_op"}), situation_on("pack:1 core:8 pu:1"));
  std::vector<std::string> out;
  for (const auto& s : rule) out.push_back(title(s));
  EXPECT_THAT(out, ElementsAre("inter_op=3 intra_op=2", "affinity=compact instances=2 inter_op=3 intra_op=1",
                               "affinity=compact instances=4 inter_op=2 intra_op=1",
                               "affinity=compact instances=8 inter_op=1 intra_op=1"));
}

TEST(Features, are_logarithms_and_a_column_for_each_other_value) {
  std::vector<Trial> trials(3);
  trials[0].settings.intra_op = 8;
  trials[1].settings.intra_op = 2;
  trials[1].settings.instances = 4;
  trials[1].settings.allocator = Allocator::jemalloc;
  const auto rows = features_of(trials, {1, 1, 4, 4, {}});
  EXPECT_THAT(rows[0], ElementsAre(0, 0, 3, 1, 0, 0));
  EXPECT_THAT(rows[1], ElementsAre(2, 0, 1, 1, 0, 1));
  EXPECT_THAT(rows[2], ElementsAre(0, 0, 2, 0, 0, 0));  // left to the framework: a thread for each core
}

TEST(Features, of_generation_have_sequences_and_threads_of_prompts_as_logarithms) {
  std::vector<Trial> trials(2);
  for (auto& trial : trials) trial.workload.generate = Generation{.cache_precision = {}};
  trials[0].settings.intra_op = 4;
  trials[0].workload.generate->sequences = 8;
  trials[1].settings.intra_op = 4;
  trials[1].settings.prefill_threads = 2;
  const auto rows = features_of(trials, {1, 1, 4, 4, {}});
  EXPECT_THAT(rows[0], ElementsAre(0, 0, 2, 0, 3, 2));  // as many read as write
  EXPECT_THAT(rows[1], ElementsAre(0, 0, 2, 0, 0, 1));
}

TEST(Goal, is_read_and_written) {
  EXPECT_EQ(title(parse_goal("latency")), "latency");
  EXPECT_EQ(title(parse_goal("throughput")), "throughput");
  EXPECT_EQ(title(parse_goal("throughput@p99<50ms")), "throughput@p99<50ms");
  EXPECT_EQ(title(parse_goal("latency@p90<2s")), "latency@p90<2000ms");
  EXPECT_EQ(title(parse_goal("latency@p95<1ms")), "latency@p95<1ms");
  EXPECT_EQ(title(parse_goal("rate@p99<50ms")), "rate@p99<50ms");
  EXPECT_EQ(title(parse_goal("tokens")), "tokens");
  EXPECT_EQ(title(parse_goal("tokens@ttft<.5s")), "tokens@ttft<500ms");
  EXPECT_EQ(parse_goal("tokens@ttft<.5s").limit_of, TimeOf::first_token);
  EXPECT_EQ(parse_goal("tokens@ttft<.5s").limit->percent, 50);
  EXPECT_TRUE(parse_goal("latency@ttft<1s").of_generation() && parse_goal("tokens@p99<1s").of_generation());
  EXPECT_FALSE(parse_goal("throughput@p99<1s").of_generation());
  for (const char* bad : {"", "speed", "rate", "rate@ttft<1s", "throughput@", "throughput@p42<1ms",
                          "throughput@p99>1ms", "throughput@p99<0ms", "throughput@p99<", "Latency", "tokens@ttft",
                          "tokens@ttft<0ms", "tokens@ttft<", "ttft<1s"}) {
    EXPECT_THROW(parse_goal(bad), Error) << bad;
  }
}

TEST(Goal, costs_seconds_of_a_step_or_of_a_sample_and_more_beyond_the_limit) {
  Summary summary;
  EXPECT_FALSE(cost_of(parse_goal("latency"), summary));
  summary.median_ns = 20'000'000;
  summary.samples_per_second = 400;
  EXPECT_DOUBLE_EQ(*cost_of(parse_goal("latency"), summary), .02);
  EXPECT_DOUBLE_EQ(*cost_of(parse_goal("throughput"), summary), .0025);
  EXPECT_DOUBLE_EQ(*cost_of(parse_goal("throughput@p99<100ms"), summary, {30, 0, .1}), .0025);
  EXPECT_DOUBLE_EQ(*cost_of(parse_goal("rate@p99<50ms"), summary, {30, 1, .1}), .0025);      // found within its limit
  EXPECT_DOUBLE_EQ(*cost_of(parse_goal("throughput@p99<50ms"), summary, {30, 1, .1}), .04);  // 2^4 times
  EXPECT_FALSE(cost_of(parse_goal("tokens"), summary));                                      // nothing was generated
  summary.generated.emplace().output_tokens_per_second = 50;
  EXPECT_DOUBLE_EQ(*cost_of(parse_goal("tokens@ttft<50ms"), summary, {30, 0, .05}), .02);
  EXPECT_DOUBLE_EQ(*cost_of(parse_goal("tokens@ttft<50ms"), summary, {30, 30, .1}), .32);  // 2^4 times
}

TEST(Goal, a_limit_is_judged_by_the_steps_beyond_it) {
  const auto limit = *parse_goal("throughput@p90<50ms").limit;
  // Of 20, 40 and 60 ms the last is beyond it; p90 by type 7 is 40 + .8 x 20.
  const auto tail = tail_of(limit, {20e6, 40e6, 60e6});
  EXPECT_EQ(tail.samples, 3);
  EXPECT_EQ(tail.over, 1);
  EXPECT_DOUBLE_EQ(tail.seconds, .056);
  EXPECT_EQ(tail_of(limit, {50e6}).over, 0);
  EXPECT_EQ(tail_of(limit, {}).samples, 0);
  EXPECT_TRUE(within_limit(limit, {100, 10, 0}));
  EXPECT_FALSE(within_limit(limit, {100, 11, 0}));
  EXPECT_EQ(judge(limit, tail), stats::Kept::undecided);
  EXPECT_EQ(judge(limit, {64, 1, 0}), stats::Kept::proved);    // the number that a p90 needs
  EXPECT_EQ(judge(limit, {100, 50, 0}), stats::Kept::broken);  // 40 more than allowed: 13 standard deviations
}

}  // namespace
}  // namespace assay::tune
