#include "assay/core/trial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "assay/core/text/hash.hpp"

namespace assay {
namespace {

Trial plain_trial() {
  Trial trial;
  trial.workload.network = "toy";
  trial.worker = {"fake", "1.0.0"};
  return trial;
}

/// A trial in which no field is null and every map has a member.
Trial full_trial() {
  Trial trial = plain_trial();
  trial.workload.graph = "ab12";
  trial.workload.mode = Mode::train;
  trial.workload.batch = 8;
  trial.workload.options = {{"width", std::int64_t{64}}, {"dropout", 0.1}, {"causal", true}, {"norm", "layer"}};
  trial.workload.data = "files";
  trial.workload.data_count = 100;
  trial.workload.data_side = 256;
  trial.workload.data_chunks = 4;
  trial.workload.generate = {.cache_precision = "fp16"};
  ServerLoad load;
  load.server = "http://127.0.0.1/v1";
  load.api = "chat";
  load.start = {"server"};
  load.model = "tiny";
  load.body_hash = "a";
  load.arrivals = "poisson";
  load.rate_per_second = 5;
  load.clients = 2;
  load.burst = 3;
  load.turns = 4;
  load.turn_gap_seconds = 0.5;
  load.trace_hash = "b";
  load.duration_seconds = 10;
  load.requests = 6;
  load.warm_up_seconds = 1;
  load.connections = 7;
  load.client = "other 1.0";
  load.batch_wait_seconds = 0.002;
  load.limit = TailLimit{.percent = 99, .seconds = 0.05};
  trial.workload.load = load;
  trial.workload.command = {"prog", "{batch}"};
  auto& s = trial.settings;
  s.instances = s.inter_op = s.intra_op = s.library_threads = s.loaders = s.prefetch = s.bucket_bytes = 1;
  s.prefill_threads = s.prefill_tokens = 1;
  s.affinity = Affinity::compact;
  s.memory_bind = MemoryBind::local;
  s.allocator = Allocator::jemalloc;
  s.spin = true;
  s.compile = "inductor";
  s.layout = "nchw";
  s.page_cache = PageCache::cold;
  s.env = {{"A", "1"}};
  trial.placement.ranks_per_node = 2;
  trial.placement.links = "cd34";
  return trial;
}

/// The texts that differ from `value` and may stand in its place: another name for an enum, longer text otherwise.
std::vector<json> other_values(const json& value) {
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_number_integer()) return {value.get<std::int64_t>() + 1};
  if (value.is_number_float()) return {value.get<double>() * 2};
  return {value.get<std::string>() + "x", "infer", "none", "system", "warm", "greedy"};
}

// Python: hashlib.sha256(json.dumps(trial, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32], where
// `trial` is the dictionary written by hand below.
TEST(TrialId, EqualsTheOnePythonComputesForAPlainTrial) {
  // {"placement":{"device":"cpu","ranks":1},"settings":{"env":{}},"worker":{"name":"fake","release":"1.0.0"},
  //  "workload":{"batch":1,"data":"memory","mode":"infer","network":"toy","options":{},"precision":"fp32"}}
  EXPECT_EQ(trial_id(plain_trial()), "352b854912b35b2bd9b7b0f15795cebc");
}

TEST(TrialId, EqualsTheOnePythonComputesForATrialWithSettingsAndOptions) {
  // {"placement":{"device":"cpu","ranks":4,"ranks_per_node":2},"settings":{"affinity":"compact",
  //  "env":{"OMP_WAIT_POLICY":"passive"},"intra_op":2,"spin":false},"worker":{"name":"fake","release":"1.0.0"},
  //  "workload":{"batch":8,"data":"memory","graph":"ab12","mode":"train","network":"toy",
  //  "options":{"causal":true,"dropout":0.1,"norm":"layer","width":64},"precision":"bf16"}}
  Trial trial = full_trial();
  trial.workload.precision = "bf16";
  trial.workload.data = "memory";
  trial.workload.data_count.reset();
  trial.workload.data_side.reset();
  trial.workload.data_chunks.reset();
  trial.workload.generate.reset();
  trial.workload.load.reset();
  trial.workload.command.reset();
  trial.settings = {};
  trial.settings.intra_op = 2;
  trial.settings.affinity = Affinity::compact;
  trial.settings.spin = false;
  trial.settings.env = {{"OMP_WAIT_POLICY", "passive"}};
  trial.placement = {"cpu", 4, 2, std::nullopt};
  EXPECT_EQ(trial_id(trial), "ea4df2195e03d9045bc042857883d5e7");
}

TEST(TrialId, StaysWhenAFieldOfNullIsAddedAnywhere) {
  json later = to_json(plain_trial());
  for (const char* part : {"workload", "worker", "settings", "placement"}) later[part]["field_of_next_year"] = nullptr;
  later["part_of_next_year"] = nullptr;
  EXPECT_EQ(hash_hex(canonical_json(later)), trial_id(plain_trial()));
  later["settings"]["field_of_next_year"] = false;
  EXPECT_NE(hash_hex(canonical_json(later)), trial_id(plain_trial()));
}

TEST(TrialId, ChangesWithTheValueOfEveryField) {
  const json whole = to_json(full_trial()).flatten();
  std::set<std::string> ids{trial_id(full_trial())};
  for (const auto& [path, value] : whole.items()) {
    ASSERT_FALSE(value.is_null()) << path << " must be set in full_trial()";
    std::optional<Trial> changed;
    for (const auto& other : other_values(value)) {
      json flat = whole;
      flat[path] = other;
      try {
        changed = from_json<Trial>(flat.unflatten());
        break;
      } catch (const Error&) {  // no value of this enum; try the next
      }
    }
    ASSERT_TRUE(changed.has_value()) << path;
    EXPECT_TRUE(ids.insert(trial_id(*changed)).second) << path << " does not change the id";
  }
}

TEST(TrialId, ChangesWhenAFieldIsLeftOut) {
  const json whole = to_json(full_trial());
  std::set<std::string> ids{trial_id(full_trial())};
  for (const auto& [part, fields] : whole.items()) {
    for (const auto& [name, value] : fields.items()) {
      const bool has_default = (part == "workload" && (name == "network" || name == "data" || name == "precision")) ||
                               (part == "worker" && name == "name") ||
                               (part == "placement" && (name == "device" || name == "ranks"));
      if (has_default) continue;
      json less = whole;
      less[part].erase(name);
      EXPECT_TRUE(ids.insert(trial_id(from_json<Trial>(less))).second) << part << "." << name;
    }
  }
}

TEST(TrialId, IsTheSameAfterARoundTripThroughText) {
  EXPECT_EQ(trial_id(from_json<Trial>(parse_json(to_json(full_trial()).dump()))), trial_id(full_trial()));
}

TEST(TrialId, RefusesTextThatIsNotUtf8InsteadOfCrashingLater) {
  Trial trial = plain_trial();
  trial.workload.network = "\xff";
  EXPECT_THROW(trial_id(trial), Error);
}

TEST(Trial, NamesTheFieldThatIsOutOfRange) {
  const auto refusal = [](const Trial& trial) -> std::string {
    try {
      check(trial);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  Trial whole = full_trial();
  whole.workload.generate.reset();
  whole.workload.load.reset();
  EXPECT_EQ(refusal(whole), "accepted");
  Trial trial = plain_trial();
  trial.workload.batch = 0;
  EXPECT_THAT(refusal(trial), testing::StartsWith("batch: 0 "));
  trial = plain_trial();
  trial.placement.ranks = 0;
  EXPECT_THAT(refusal(trial), testing::StartsWith("placement.ranks: 0 "));
  trial.placement.ranks = 2;
  trial.settings.instances = 3;
  EXPECT_THAT(refusal(trial), testing::StartsWith("2 ranks and 3 instances"));
  trial = plain_trial();
  trial.worker.name = "";
  EXPECT_THAT(refusal(trial), testing::StartsWith("worker: "));
  trial = plain_trial();
  trial.workload.data_count = 8;
  EXPECT_THAT(refusal(trial), testing::StartsWith("data_count: 8 of what?"));
  trial.workload.data = "files";
  EXPECT_EQ(refusal(trial), "accepted");
  trial.workload.data_side = 0;
  EXPECT_THAT(refusal(trial), testing::StartsWith("data_side: 0 "));
  trial.workload.data_side.reset();
  trial.workload.data_chunks = 0;
  EXPECT_THAT(refusal(trial), testing::StartsWith("data_chunks: 0 "));
  trial.workload.data = "memory";
  trial.workload.data_count.reset();
  trial.workload.data_chunks = 2;
  EXPECT_THAT(refusal(trial), testing::StartsWith("data_chunks: 2 of what?"));
  trial = plain_trial();
  trial.workload.command = std::vector<std::string>{};
  EXPECT_THAT(refusal(trial), testing::StartsWith("command: "));
}

TEST(Trial, TheTitleIsOneLineForAPerson) {
  Trial trial = plain_trial();
  trial.workload.mode = Mode::train;
  trial.workload.batch = 8;
  trial.settings.intra_op = 2;
  EXPECT_EQ(title(trial), "toy train b8 on fake 1.0.0, intra_op=2");
  trial.placement.ranks = 4;
  trial.placement.device = "cuda";
  EXPECT_EQ(title(trial), "toy train b8 on fake 1.0.0, 4 ranks, cuda, intra_op=2");
  trial.settings = {};
  EXPECT_EQ(conditions(trial), "4 ranks, cuda");
  trial.placement = {};
  EXPECT_EQ(conditions(trial), "default");
}

TEST(Measure, DefaultsAreAcceptedAndWhatIsOutOfRangeIsRefused) {
  EXPECT_NO_THROW(check(Measure{}));
  for (const auto& change : std::vector<void (*)(Measure&)>{
           [](Measure& m) { m.seconds = 0; }, [](Measure& m) { m.warmup_seconds = -1; },
           [](Measure& m) { m.seconds = std::nan(""); }, [](Measure& m) { m.max_samples = 0; },
           [](Measure& m) { m.slice_seconds = 1e9; }, [](Measure& m) { m.pair_steps = 0; },
           [](Measure& m) { m.platform = "abc"; }, [](Measure& m) { m.platform = "ABCD"; },
           [](Measure& m) { m.retries = -1; }, [](Measure& m) { m.memory_limit_bytes = 1; },
           [](Measure& m) { m.limit_seconds = 0; }, [](Measure& m) { m.prepare_limit_seconds = 0; }}) {
    Measure measure;
    change(measure);
    EXPECT_THROW(check(measure), Error);
  }
}

}  // namespace
}  // namespace assay
