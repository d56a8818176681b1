#include "assay/predict/step/step_drawing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "assay/predict/models/catalogue.hpp"
#include "assay/predict/step/pipeline_order.hpp"

namespace assay::predict {
namespace {

/// Goes from event to event: at each, every stream whose first node may begin begins it. Knows of no order but that of
/// its streams.
double brute_force_seconds(const StepGraph& graph) {
  std::map<std::pair<std::int64_t, StepStream>, std::deque<std::size_t>> waiting;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    waiting[{graph.nodes[i].stage, graph.nodes[i].stream}].push_back(i);
  }
  std::map<std::pair<std::int64_t, StepStream>, double> busy_until;
  std::vector<double> begun(graph.nodes.size(), -1);
  std::set<double> events{0};
  double end = 0;
  while (!events.empty()) {
    const double now = *events.begin();
    bool moved = true;
    while (moved) {  // what takes no time lets others begin at once
      moved = false;
      for (auto& [stream, queue] : waiting) {
        if (queue.empty() || busy_until[stream] > now) continue;
        const auto& node = graph.nodes[queue.front()];
        const bool may = std::all_of(node.after.begin(), node.after.end(), [&](const StepEdge& edge) {
          return begun[edge.node] >= 0 && begun[edge.node] + edge.lag_seconds <= now;
        });
        if (!may) continue;
        begun[queue.front()] = now;
        busy_until[stream] = now + node.seconds;
        end = std::max(end, now + node.seconds);
        events.insert(now + node.seconds);
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
          for (const auto& edge : graph.nodes[i].after) {
            if (edge.node == queue.front()) events.insert(now + edge.lag_seconds);
          }
        }
        queue.pop_front();
        moved = true;
      }
    }
    events.erase(events.begin());
  }
  for (const auto& [stream, queue] : waiting) EXPECT_TRUE(queue.empty());
  return end;
}

StepGraph random_graph(std::mt19937& random) {
  const auto below = [&](std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(0, most - 1)(random);
  };
  StepGraph graph;
  graph.stages = 1 + below(4);
  const auto count = 2 + below(60);
  for (std::size_t i = 0; i < count; ++i) {
    StepNode node;
    node.stage = below(static_cast<std::uint32_t>(graph.stages));
    node.stream = static_cast<StepStream>(below(kStepStreams));
    node.seconds = below(8);  // whole seconds, so that sums are exact and many events fall together
    for (auto edges = below(4); edges > 0 && i > 0; --edges) {
      const std::size_t other = below(static_cast<std::uint32_t>(i));
      const double lag = below(3) > 0 ? graph.nodes[other].seconds : below(10);
      node.after.push_back({other, lag});
    }
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

TEST(StepGraph, IsScheduledAsABruteForceSimulationOfEventsDoes) {
  std::mt19937 random(26);
  for (int i = 0; i < 300; ++i) {
    const auto graph = random_graph(random);
    ASSERT_EQ(schedule(graph).seconds, brute_force_seconds(graph)) << "graph " << i;
  }
}

StepJob split_job(std::int64_t stages, std::int64_t microbatches) {
  StepJob job;
  job.model = model_named("llama3-70b");
  job.device = step_device("h100");
  job.plan.devices = 16 * stages;
  job.plan.tensor = 4;
  job.plan.pipeline = stages;
  job.plan.sequence = 4096;
  job.plan.microbatches = static_cast<double>(microbatches);
  job.plan.sharded_optimizer = true;
  job.plan.gradient_bytes = 4;
  return job;
}

/// The law's time over the graph's.
double ratio(const StepJob& job, const StepConstants& c, std::size_t most_nodes) {
  const auto work = step_work(job);
  return step_time(work, job.plan, c).seconds / schedule(step_graph(work, job.plan, c, most_nodes)).seconds;
}

TEST(StepGraph, TakesWhatTheLawSays) {
  StepConstants c;
  for (const std::size_t most : {std::size_t{2000}, kMostStepNodes}) {  // a node for each pass, and for each layer
    for (const std::int64_t stages : {1, 2, 4, 8}) {
      for (const std::int64_t times : {1, 2, 3}) {
        for (const double bubble : {.7, 1.0, 1.4}) {
          c.bubble = bubble;
          auto job = split_job(stages, stages * times);
          EXPECT_NEAR(ratio(job, c, most), 1, 1e-9) << stages << " " << times << " " << bubble;
          job.plan.overlapped_gradients = true;
          EXPECT_NEAR(ratio(job, c, most), 1, 1e-9);
          job.plan.shard = 4;
          job.plan.recompute = Recomputing::full;
          EXPECT_NEAR(ratio(job, c, most), 1, 1e-9);
          if (stages == 1) continue;
          job.plan.interleaving = 2;
          EXPECT_NEAR(ratio(job, c, most), 1, 1e-9);
          job.plan.interleaving = 1;
          job.plan.schedule = PipelineSchedule::zero_bubble;
          if (bubble <= 1) {
            EXPECT_NEAR(ratio(job, c, most), 1, 1e-9);
          }
        }
      }
    }
  }
}

TEST(StepGraph, EachPartHandsOnAllActivationsOfAMicrobatch) {
  auto job = split_job(2, 4);
  const auto seconds_of_one = step_work(job).hand_on / 2;  // one part: a crossing in each direction
  StepConstants c;
  c.scale = 1e-12;
  for (const std::int64_t parts : {1, 2, 4}) {
    job.plan.interleaving = parts;
    const auto graph = step_graph(step_work(job), job.plan, c);
    std::int64_t crossings = 0;
    for (const auto& node : graph.nodes) {
      if (node.stage != 0 || node.stream != StepStream::copies) continue;
      ++crossings;
      EXPECT_NEAR(node.seconds / seconds_of_one, 1, 1e-9);
    }
    EXPECT_EQ(crossings, parts * 4 * 2) << parts;  // microbatches, both directions
  }
}

TEST(StepGraph, ExpertsAndContextAreInItToo) {
  StepJob job;
  job.model = model_named("mixtral-8x7b");
  job.device = step_device("h100");
  job.plan.devices = 64;
  job.plan.pipeline = 2;
  job.plan.context = 2;
  job.plan.experts = 8;
  job.plan.sequence = 8192;
  job.plan.microbatches = 8;
  EXPECT_NEAR(ratio(job, {}, kMostStepNodes), 1, 1e-9);
}

TEST(StepGraph, GathersRunBesideComputingAndScatterAfterNothing) {
  auto job = split_job(1, 2);
  job.plan.tensor = 1;
  job.plan.shard = 16;
  StepConstants c;
  c.interference = 1e-12;
  const auto work = step_work(job);
  const auto graph = step_graph(work, job.plan, c);
  const auto s = schedule(graph);
  // 80 layers, two microbatches, both ways: as many gathers as passes of layers, and each begins with its layer.
  std::int64_t gathers = 0;
  for (std::size_t i = 0; i + 1 < graph.nodes.size(); ++i) {
    if (graph.nodes[i + 1].stream != StepStream::shards || graph.nodes[i + 1].layers == 0) continue;
    ++gathers;
    EXPECT_EQ(s.begin_seconds[i + 1], s.begin_seconds[i]);
  }
  EXPECT_EQ(gathers, 80 * 2 * 2);
}

TEST(StepGraph, RefusesWhatCannotBeInterleavedOrIsTooLarge) {
  auto job = split_job(4, 6);
  job.plan.interleaving = 2;
  EXPECT_THROW(static_cast<void>(step_graph(step_work(job), job.plan, {})), Error);
  job.plan.interleaving = 1;
  EXPECT_THROW(static_cast<void>(step_graph(step_work(job), job.plan, {}, 47)), Error);  // 4 x 6 x 2 passes
  EXPECT_NO_THROW(static_cast<void>(step_graph(step_work(job), job.plan, {}, 48)));
}

StepDrawing drawing_of(const StepJob& job, double factor = 1) {
  return step_drawing(step_work(job), job.plan, {}, factor);
}

TEST(StepDrawing, OfFewMicrobatchesIsTheWholeStep) {
  const auto job = split_job(4, 8);
  const auto law = step_time(step_work(job), job.plan, {}).seconds;
  const auto drawn = drawing_of(job, 1.25);
  EXPECT_EQ(drawn.microbatches, 8);
  EXPECT_EQ(drawn.step_microbatches, 8);
  EXPECT_NEAR(drawn.schedule.seconds, 1.25 * law, 1e-9 * law);
}

TEST(StepDrawing, OfManyMicrobatchesHasSomeThatFillTheStages) {
  // 64 passes of a stage: 32 microbatches forward and backward; of two parts 16; with weights apart 21, of which 20 are
  // a multiple of four stages.
  auto job = split_job(4, 1000);
  EXPECT_EQ(drawing_of(job).microbatches, 32);
  EXPECT_EQ(drawing_of(job).step_microbatches, 1000);
  job.plan.interleaving = 2;
  EXPECT_EQ(drawing_of(job).microbatches, 16);
  job.plan.interleaving = 1;
  job.plan.schedule = PipelineSchedule::zero_bubble;
  EXPECT_EQ(drawing_of(job).microbatches, 20);
  // What is left out repeats: the step is as much longer as the law says of so many microbatches more.
  job = split_job(4, 1000);
  auto fewer = job;
  fewer.plan.microbatches = 32;
  const auto law = [](const StepJob& one) { return step_time(step_work(one), one.plan, {}).seconds; };
  EXPECT_NEAR(drawing_of(job).schedule.seconds, law(fewer), 1e-9 * law(fewer));
  // 16 stages of 20 parts: as many microbatches as stages, though that is more passes.
  job = split_job(16, 64);
  job.model.layers = 320;
  job.plan.interleaving = 20;
  EXPECT_EQ(drawing_of(job).microbatches, 16);
}

std::string text_of(const std::vector<Pass>& passes) {
  std::string text;
  for (const auto& pass : passes) {
    text += (text.empty() ? "" : " ");
    text += "FBW"[static_cast<std::size_t>(pass.kind)];
    text += std::to_string(pass.microbatch) + (pass.part > 0 ? "'" : "");
  }
  return text;
}

TEST(PipelineOrder, IsThatOfThePapers) {
  const auto one = PipelineSchedule::one_forward_one_backward;
  // 1F1B: a stage has as many microbatches under way as there are stages from it on.
  EXPECT_EQ(text_of(pipeline_order(one, 0, 3, 4, 1)), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(text_of(pipeline_order(one, 2, 3, 4, 1)), "F0 B0 F1 B1 F2 B2 F3 B3");
  // Interleaved, 2 stages with 2 parts: (p - 1 - s) 2 + (v - 1) p passes ahead, 2 for the last stage.
  EXPECT_EQ(text_of(pipeline_order(one, 1, 2, 4, 2)), "F0 F1 F0' B0' F1' B1' F2 B0 F3 B1 F2' B2' F3' B3' B2 B3");
  // ZB-H1: the first stage makes the pass of weights at once, the last one p - 1 microbatches later.
  const auto zero = PipelineSchedule::zero_bubble;
  EXPECT_EQ(text_of(pipeline_order(zero, 0, 2, 3, 1)), "F0 F1 B0 W0 F2 B1 W1 B2 W2");
  EXPECT_EQ(text_of(pipeline_order(zero, 1, 2, 3, 1)), "F0 B0 F1 B1 W0 F2 B2 W1 W2");
}

}  // namespace
}  // namespace assay::predict
