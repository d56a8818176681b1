#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "assay/predict/models/catalogue.hpp"
#include "assay/predict/step/stack.hpp"
#include "assay/predict/step/step_drawing.hpp"
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

TEST(Step, EachPartOfAStageHandsOnItsOutput) {
  auto job = llama_job(2);
  job.plan.pipeline = 2;
  job.plan.microbatches = 4;
  const auto c = nothing_wasted();
  const auto handed_on = [&] { return step_time(step_work(job), job.plan, c).pipeline_seconds; };
  // Activations of one microbatch, 8,192 tokens x 4,096 values x 2 bytes, at 360 GB/s inside a node.
  const double crossing = 8192.0 * 4096 * 2 / 360e9;
  EXPECT_NEAR(handed_on(), 4 * 2 * crossing, 1e-9);  // 4 microbatches, forward and back
  for (const std::int64_t parts : {2, 4, 8}) {
    job.plan.interleaving = parts;  // the first stage hands on after each of its parts
    EXPECT_NEAR(handed_on(), 4 * 2 * static_cast<double>(parts) * crossing, 1e-9) << parts;
  }
  job.plan.schedule = PipelineSchedule::zero_bubble;  // its stages have one part
  EXPECT_NEAR(handed_on(), 4 * 2 * crossing, 1e-9);
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

TEST(Step, MemoryOfAPipelineWithFsdpKeepsAStageWhole) {
  auto job = llama_job(16);
  job.plan.pipeline = 2;
  job.plan.shard = 8;
  job.plan.microbatches = 8;
  job.plan.recompute = Recomputing::full;
  job.plan.gradient_bytes = 4;
  const auto memory = step_memory(job);
  // Half of 8,030,261,248 parameters: whole in 2 bytes, and their gradients in 4, besides 1.5 GiB of the framework.
  EXPECT_NEAR(memory.buffer_bytes, 8030261248.0 / 2 * 6 + 1.5 * 1024 * 1024 * 1024, 1);
  // Two microbatches under way, each with the inputs of 16 layers, 8,192 x 4,096 x 2 bytes, and one layer of all:
  // 8 h + 2 (2 x 32 + 2 x 8) 128 + 6 x 14,336 bytes a token. The last stage has one of them, and 14 bytes for each of
  // 8,192 x 128,256 values of the output: more.
  const double input = 8192.0 * 4096 * 2;
  const double layer = 8192.0 * (8 * 4096 + 2 * 80 * 128 + 6 * 14336);
  EXPECT_NEAR(memory.activation_bytes, 16 * input + layer, 1);
  EXPECT_NEAR(memory.output_bytes, 14.0 * 8192 * 128256, 1);
}

TEST(Step, TokensOfExpertsAreSharedByATensorGroup) {
  StepJob job;
  job.model = model_named("mixtral-8x7b");
  job.device = step_device("h100");
  job.plan.devices = 16;
  job.plan.experts = 8;
  const auto alone = step_work(job);
  job.plan.tensor = 2;
  const auto shared = step_work(job);
  EXPECT_NEAR((shared.exchange - 60e-6) / (alone.exchange - 60e-6), .5, 1e-9);
  EXPECT_LT(shared.expert_forward, .7 * alone.expert_forward);
  // 16 devices on two nodes: half of 2,048 tokens x 2 experts x 4,096 values x 2 bytes x 15/16, there and back, at
  // 50 GB/s; inside a node nothing.
  job.plan.tensor = 1;
  job.plan.experts = 16;
  const auto across = step_work(job);
  EXPECT_EQ(across.exchange, 0);
  EXPECT_NEAR(across.exchange_across, 2 * 2048.0 * 2 * 4096 * 2 * 15 / 16 / 2 / 50e9 + 100e-6, 1e-9);
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

TEST(Stack, SaysHowFarConstantsMoveWhereGroupsAreLeftOut) {
  auto map = parse_row_map(kMap, "map");
  map.constants = {"product", "fp8"};
  map.softness = .1;
  StepConstants truth;
  truth.product = 1.4;
  const NamedColumns table(made_table(map, truth), "made", "");
  auto jobs = read_jobs(table, map);
  const Stack even(map, jobs.rows);
  ASSERT_EQ(even.spreads().size(), 1u);  // no row is in fp8
  EXPECT_EQ(even.spreads().front().name, "product");
  EXPECT_NEAR(*even.spreads().front().low, 1.4, .02);  // every group says the same
  EXPECT_NEAR(*even.spreads().front().high, 1.4, .02);
  for (auto& row : jobs.rows) {
    if (row.job.model.hidden == 4096) *row.measured_seconds *= 1.5;
  }
  const Stack uneven(map, jobs.rows);
  const auto& spread = uneven.spreads().front();
  EXPECT_NEAR(*spread.low, 1.4, .02);     // without the group that is slower
  EXPECT_GT(*spread.high, spread.value);  // without one that is not
  EXPECT_TRUE(uneven.refused().empty());
}

TEST(Stack, AConstantAtItsBoundIsRefusedAndTheFitIsMadeWithoutIt) {
  auto map = parse_row_map(kMap, "map");
  map.constants = {"product", "attention"};
  map.pull = 1e-6;
  map.softness = 1;
  StepConstants truth;
  truth.attention = 1e-4;  // exp(-3) of where it starts is the bound: 1.5 / 20.1
  const NamedColumns table(made_table(map, truth), "made", "");
  const Stack stack(map, read_jobs(table, map).rows);
  ASSERT_EQ(stack.refused().size(), 1u);
  const auto& refused = stack.refused().front();
  EXPECT_EQ(refused.name, "attention");
  EXPECT_NEAR(refused.bound, StepConstants{}.attention * std::exp(-3.0), 1e-3);
  EXPECT_EQ(stack.constants("h100").attention, StepConstants{}.attention);
  EXPECT_NE(refused.told_by.find("lengths of sequence"), std::string::npos);
  ASSERT_EQ(stack.spreads().size(), 1u);
  EXPECT_EQ(stack.spreads().front().name, "product");
}

TEST(Stack, ChoosesTheWeightsOfAFitFromGroupsThatAreLeftOut) {
  const auto map = parse_row_map(kMap, "map");
  ASSERT_TRUE(map.pull && !map.softness);
  const NamedColumns table(made_table(map, {}), "made", "");
  const Stack stack(map, read_jobs(table, map).rows);
  ASSERT_EQ(stack.choices().size(), 2u);  // what the map states is not tried
  EXPECT_EQ(stack.choices().front().pull, .001);
  // Rows are made by the constants that fits start from, so that whatever is left out is predicted.
  EXPECT_LE(stack.choices().front().left_out_error, stack.choices().back().left_out_error);
  EXPECT_LT(stack.choices().back().left_out_error, 1e-4);
}

TEST(Stack, AnEffectIsAFactorOfItsRowsThatFewRowsShowInPart) {
  auto map = parse_row_map(kMap, "map");
  map.effects = {{"gpu", "h"}};
  map.constants.clear();
  map.softness = .1;
  const NamedColumns table(made_table(map, {}), "made", "");
  auto jobs = read_jobs(table, map);
  ASSERT_EQ(jobs.rows.front().effects, std::vector<std::string>{"h100|1024|"});
  for (auto& row : jobs.rows) {
    if (row.job.model.hidden == 1024) *row.measured_seconds *= 1.2;
  }
  const Stack stack(map, jobs.rows);
  // 8 rows are 1.2 times as long; 3 more rows of nothing hold the factor: exp(8 / 11 ln 1.2). Times of the table are
  // written with as many digits as they have.
  const auto& row = jobs.rows.front();
  const double plain = step_time(row.work, row.job.plan, StepConstants{}).seconds;
  EXPECT_NEAR(stack.predict(row).seconds / plain, std::exp(8.0 / 11 * std::log(1.2)), 1e-9);
  EXPECT_NEAR(stack.predict(jobs.rows.back()).seconds / *jobs.rows.back().measured_seconds, 1, 1e-9);
  // Few microbatches are all drawn: the drawing takes as long as was predicted.
  EXPECT_NEAR(step_drawing(stack, row).schedule.seconds / stack.predict(row).seconds, 1, 1e-9);
}

TEST(Stack, TooFewRowsAreRefused) {
  const auto map = parse_row_map(kMap, "map");
  EXPECT_THROW(Stack(map, {}), Error);
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

TEST(StepDevice, AFileIsTheDeviceWhateverItIsCalled) {
  auto laws = find_device("h100");
  laws.sheet.name = "mine";
  laws.sheet.bf16_flops_per_second = 500e12;
  laws.sheet.memory_bytes = 5e9;
  laws.sheet.link_bytes_per_second = 100e9;
  const std::filesystem::path folder(testing::TempDir());
  const auto path = folder / fmt::format("assay_h100_{}.json", getpid());
  std::ofstream(path) << to_json(laws).dump();
  const auto device = step_device(path.string());
  std::filesystem::remove(path);
  EXPECT_EQ(device.sheet.name, "mine");
  EXPECT_EQ(device.sheet.bf16_flops_per_second, 500e12);
  EXPECT_EQ(device.sheet.memory_bytes, 5e9);
  EXPECT_EQ(device.inside_bytes_per_second, 80e9);  // of which a ring reaches 80 %
  EXPECT_EQ(device.product, step_device("h100").product);
  EXPECT_EQ(device.basis, LawBasis::measured);
  EXPECT_THROW(step_device(path.string()), Error);  // it is gone, and not the H100 of the catalogue
  EXPECT_FALSE(is_step_device("h100.json"));
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
