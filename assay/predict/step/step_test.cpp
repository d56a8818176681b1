#include <gtest/gtest.h>

#include <cmath>

#include "assay/predict/models/catalogue.hpp"
#include "assay/predict/step/stack.hpp"
#include "assay/predict/step/step_memory.hpp"

namespace assay::predict {
namespace {

StepJob llama_job(std::int64_t devices) {
  StepJob job;
  job.model = model_named("llama3-8b");
  job.device = step_device("h100");
  job.plan.devices = devices;
  job.plan.sequence = 8192;
  return job;
}

StepConstants nothing_wasted() {
  StepConstants c;
  c.product = c.passes = c.attention = c.sums = c.links = c.bubble = c.exchange = 1;
  c.floor = c.call = c.interference = c.scale = 1e-12;
  return c;
}

TEST(Step, FlopsAreSixForEachParameterThatATokenMeetsAndTheScores) {
  auto job = llama_job(1);
  // One sequence of 8,192 tokens. Parameters without the embedding: 8,030,261,248 - 128,256 x 4,096 = 7,504,924,672.
  // Scores, causal: 12 x 32 layers x 32 heads x 128 values x 8,192 / 2 = 6,442,450,944 for each token.
  const double expected = 8192.0 * (6.0 * 7'504'924'672 + 6'442'450'944.0);
  EXPECT_NEAR(step_flops(job.model, job.plan) / expected, 1, 1e-12);
}

TEST(Step, TheBubbleIsStagesLessOneOverPartsOfAStage) {
  auto job = llama_job(8);
  job.plan.pipeline = 8;
  job.plan.microbatches = 32;
  job.plan.balanced_head = true;
  const auto c = nothing_wasted();
  const auto bubble = [&] {
    const auto work = step_work(job);
    const auto time = step_time(work, job.plan, c);
    // Of a stage's time for one microbatch; the output layer is not part of the bubble here.
    const double stage = time.compute_seconds + time.pipeline_seconds;
    return time.bubble_seconds / (stage / 32);
  };
  EXPECT_NEAR(bubble(), 7, 1e-6);  // 1F1B: p - 1 microbatches
  job.plan.interleaving = 2;
  EXPECT_NEAR(bubble(), 3.5, 1e-6);  // interleaved: (p - 1) / v
  job.plan.interleaving = 1;
  job.plan.schedule = PipelineSchedule::zero_bubble;
  // ZB-H1 (arXiv 2401.10241): (p - 1)(f + b - w), where the passes f, b and w of a microbatch are equally long: a third
  // of p - 1 microbatches.
  EXPECT_NEAR(bubble(), 7.0 / 3, 1e-6);
}

TEST(Step, GathersThatAreShorterThanComputingAreHidden) {
  auto job = llama_job(8);
  job.plan.shard = 8;
  auto c = nothing_wasted();
  const auto work = step_work(job);
  const auto hidden = step_time(work, job.plan, c);
  // Computing a layer of 218 million parameters on 8,192 tokens takes milliseconds, gathering its 436 MB at 306 GB/s
  // 1.2 ms: what remains is the embedding, 128,256 x 4,096 x (2 + 1) bytes x 7/8 at 85 % of 360 GB/s.
  const double edge = 128256.0 * 4096 * 3 * 7 / 8 / (.85 * .8 * 450e9);
  EXPECT_NEAR(hidden.shard_seconds, edge, 1e-6);
  c.interference = 1;  // nothing overlaps: two gathers and a scatter for each layer, and their latencies
  const auto exposed = step_time(work, job.plan, c);
  const double layer = static_cast<double>(attention_parameters(job.model) + dense_parameters(job.model)) + 2 * 4096;
  const double expected = 3 * (2 * (layer + 4096.0 / 32) * 7 / 8 / (.85 * .8 * 450e9) + 34e-6);
  EXPECT_NEAR((exposed.shard_seconds - edge) / 32, expected, 1e-6);
}

TEST(Step, SumsOfATensorGroupAreFourRingsALayer) {
  auto job = llama_job(8);
  job.plan.tensor = 8;
  const auto time = step_time(step_work(job), job.plan, nothing_wasted());
  // A ring of 8 sends 2 x 7/8 x 8,192 x 4,096 x 2 bytes at 360 GB/s and starts in 20 + 9 x 8 us; attention and
  // feed-forward, forward and backward, 32 layers.
  const double ring = 2 * 7.0 / 8 * 8192 * 4096 * 2 / 360e9 + 92e-6;
  EXPECT_NEAR(time.tensor_seconds, 32 * 4 * ring, 1e-9);
  job.plan.recompute = Recomputing::full;  // and forward again
  EXPECT_NEAR(step_time(step_work(job), job.plan, nothing_wasted()).tensor_seconds, 32 * 6 * ring, 1e-9);
}

TEST(Step, MemoryOfAdamAndOfOneLayerWithScores) {
  StepJob job;
  job.model = model_named("gpt3-175b");
  job.device = step_device("a100-80");
  job.plan.sequence = 2048;
  job.plan.flash_attention = false;
  // s b h (34 + 5 a s / h) with h = 12,288, a = 96 (arXiv 2205.05198): 2,048 x 12,288 x (34 + 80) bytes.
  EXPECT_NEAR(layer_activation_bytes(job), 2048.0 * 12288 * 114, 1);
  job.plan.tensor = 8;  // (10 + 24 / 8 + 80 / 8)
  EXPECT_NEAR(layer_activation_bytes(job), 2048.0 * 12288 * 23, 1);
  job.plan.sequence_parallel = true;  // all of it / 8
  EXPECT_NEAR(layer_activation_bytes(job), 2048.0 * 12288 * 114 / 8, 1);
  job.plan = {};
  // Mixed precision and Adam: 16 bytes a parameter.
  EXPECT_NEAR(step_memory(job).state_bytes, 16.0 * static_cast<double>(parameters_of(job.model)), 1);
  job.plan.devices = job.plan.shard = 64;
  EXPECT_NEAR(step_memory(job).state_bytes, 16.0 / 64 * static_cast<double>(parameters_of(job.model)), 1);
}

TEST(Step, MoreDevicesThanThePlanHasPartsAreNeeded) {
  auto job = llama_job(4);
  job.plan.tensor = 8;
  EXPECT_THROW(check(job), Error);
}

constexpr const char* kMap = R"({"stack": "test", "columns": {"devices": "gpus", "microbatch": "b", "hidden": "h",
  "layers": "l", "heads": "a", "sequence": "s", "device": "gpu"}, "fixed": {"microbatches": "4"},
  "measured_column": "seconds", "group": ["h"], "constants": ["product", "passes", "attention"], "pull": 0.001})";

/// Rows that constants of our own choice made.
std::string made_table(const RowMap& map, const StepConstants& truth) {
  std::string head = "gpus,b,h,l,a,s,gpu,seconds\n";
  std::string table = head;
  for (const int hidden : {1024, 2048, 4096}) {
    for (const int batch : {1, 2, 4, 8}) {
      for (const int sequence : {1024, 4096}) {
        const auto line = fmt::format("8,{},{},24,16,{},h100,", batch, hidden, sequence);
        const NamedColumns one(head + line + "1\n", "made", "");
        const auto job = read_jobs(one, map).rows.at(0);
        table += line + fmt::format("{}\n", step_time(job.work, job.job.plan, truth).seconds);
      }
    }
  }
  return table;
}

TEST(Stack, FindsTheConstantsThatMadeTheRows) {
  const auto map = parse_row_map(kMap, "map");
  StepConstants truth;
  truth.product = 1.4;
  truth.passes = .7;
  truth.attention = 2.2;
  const NamedColumns table(made_table(map, truth), "made", "");
  const auto jobs = read_jobs(table, map);
  ASSERT_EQ(jobs.rows.size(), 24u);
  const Stack stack(map, jobs.rows);
  EXPECT_NEAR(stack.constants("h100").product, 1.4, .02);
  EXPECT_NEAR(stack.constants("h100").passes, .7, .02);
  EXPECT_NEAR(stack.constants("h100").attention, 2.2, .05);
  const auto said = stack.predict(jobs.rows.front());
  EXPECT_NEAR(said.seconds / *jobs.rows.front().measured_seconds, 1, .005);
  EXPECT_LE(said.low_seconds, said.seconds);
  EXPECT_GE(said.high_seconds, said.seconds);
}

TEST(Stack, ARangeIsWiderBeyondTheScaleAndOnANewDevice) {
  const auto map = parse_row_map(kMap, "map");
  StepConstants truth;
  truth.floor = .03;  // which the map does not let go, so that something is left over
  const NamedColumns table(made_table(map, truth), "made", "");
  auto jobs = read_jobs(table, map);
  const Stack stack(map, jobs.rows);
  const auto width = [&](const JobRow& job) {
    const auto said = stack.predict(job);
    return std::log(said.high_seconds / said.seconds);
  };
  auto job = jobs.rows.front();
  const double near = width(job);
  job.job.plan.devices = 64;  // three doublings
  EXPECT_NEAR(width(job) - near, .03, 1e-9);
  job = jobs.rows.front();
  job.device = "b200";
  EXPECT_TRUE(stack.predict(job).new_device);
  EXPECT_GT(width(job), near);
}

TEST(RowMap, RefusesWhatIsNotKnownAndReadsRowsOneByOne) {
  EXPECT_THROW(parse_row_map(R"({"stack": "x", "columns": {"wheels": "w"}, "constants": []})", "m"), Error);
  EXPECT_THROW(parse_row_map(R"({"stack": "x", "columns": {}, "constants": ["speed"]})", "m"), Error);
  const auto map = parse_row_map(R"({"stack": "x", "columns": {"model": "m", "devices": "n", "device": "g",
    "precision": "p"}, "fixed": {"sequence": "4096"}, "constants": []})",
                                 "m");
  const NamedColumns table("m,n,g,p\nllama3-8b,8,h100,FP8-CS\nNewModel_70B,8,x9000,NVFP4\nnameless,8,h100,bf16\n", "t",
                           "");
  const auto jobs = read_jobs(table, map);
  ASSERT_EQ(jobs.rows.size(), 2u);
  EXPECT_EQ(jobs.rows[0].job.plan.precision, StepPrecision::fp8);
  EXPECT_TRUE(jobs.rows[0].assumed.empty());
  EXPECT_EQ(jobs.rows[1].job.plan.precision, StepPrecision::fp4);
  EXPECT_EQ(jobs.rows[1].assumed.size(), 2u);  // the model's shape and the device
  ASSERT_EQ(jobs.refused.size(), 1u);
  EXPECT_EQ(jobs.refused[0].row, 2u);
}

}  // namespace
}  // namespace assay::predict
