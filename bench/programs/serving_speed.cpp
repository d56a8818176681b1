// serving_speed CONFIGURATIONS: simulates so many servers that differ in device, split, lengths, type and load, and one
// with a step for each token; a line of JSON with the seconds of each. Run by bench/serving_speed.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "assay/predict/models/catalogue.hpp"
#include "assay/predict/serving/server_simulation.hpp"
#include "assay/predict/serving/stacks/known_stacks.hpp"

namespace assay::bench {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The i-th configuration, simulated; the tokens that it made.
std::int64_t simulated(int i) {
  static const char* const devices[] = {"a100-80", "h100", "h200", "b200", "l40s"};
  const predict::KernelTimes times(predict::find_device(devices[i % 5]));
  const auto weights = i % 2 == 0 ? predict::ProductType::bf16 : predict::ProductType::fp8;
  const auto& stack = predict::known_stack(i % 3 == 0 ? "vllm" : i % 3 == 1 ? "trtllm" : "sglang", weights).fitted;
  const predict::ServedModel model{predict::model_named("llama3-8b"), weights, 2, std::int64_t{1} << (i / 5 % 4)};
  predict::ServingLoad load;
  load.requests = 300;
  load.prompt_tokens = std::int64_t{256} << (i / 20 % 5);
  load.output_tokens = std::int64_t{64} << (i / 100 % 4);
  load.rate = 1.0 + i % 7;
  load.seed = static_cast<std::uint64_t>(i + 1);
  predict::Servers servers;
  servers.replicas = 1 + i % 3;
  const auto tokens = static_cast<double>(load.prompt_tokens + load.output_tokens);
  const predict::StepTable table(model, times, stack.constants, static_cast<double>(servers.limits.batch), tokens);
  return simulate_serving(table, servers, load).decoded_tokens;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay;
  if (argc != 2) return 2;
  const int count = std::atoi(argv[1]);
  auto begin = std::chrono::steady_clock::now();
  std::int64_t tokens = 0;
  for (int i = 0; i < count; ++i) tokens += bench::simulated(i);
  const double sweep = bench::seconds_since(begin);
  begin = std::chrono::steady_clock::now();
  const predict::ServingLoad alone{2000, 128, 500, 0, 1, 1};
  const auto seen = simulate_serving(predict::StepTable::fixed(0.01, 0.0001), {}, alone);
  const double steps = bench::seconds_since(begin);
  std::printf("%s\n", json({{"configurations", count},
                            {"tokens", tokens},
                            {"sweep_seconds", sweep},
                            {"worst_tokens_per_second", static_cast<double>(seen.decoded_tokens) / steps}})
                          .dump()
                          .c_str());
}
