#include "assay/predict/serving/stacks/known_stacks.hpp"

#include <set>

namespace assay::predict {
namespace {

constexpr const char* kSamples = "usual constants of this server on H100 and H200, tensor 1 and 2, from published fits";
// An assumption, until a stack is calibrated; on other devices and larger splits they are wider.
constexpr ServingRanges kSampleRanges{0.35, 0.12, 0.12};

KnownStack known_with(const char* server, ProductType weights, double cache_bytes, const StackConstants& constants) {
  FittedStack fitted;
  fitted.constants = constants;
  fitted.cache_element_bytes = cache_bytes;
  fitted.largest_tensor = 2;
  fitted.devices = {"h100", "h200"};
  fitted.ranges = kSampleRanges;
  return {server, weights, fitted, kSamples};
}

StackConstants constants_of(double products, double attention, double collectives, double prefill, double layer_us,
                            double sequence_us) {
  StackConstants constants;
  constants.products = products;
  constants.attention = attention;
  constants.collectives = collectives;
  constants.prefill = prefill;
  constants.layer_us = layer_us;
  constants.sequence_us = sequence_us;
  return constants;
}

}  // namespace

const std::vector<KnownStack>& known_stacks() {
  static const std::vector<KnownStack> all{
      known_with("trtllm", ProductType::bf16, 2, constants_of(1.01, 0.99, 1.10, 1.05, 15.4, 4.7)),
      known_with("trtllm", ProductType::fp8, 1, constants_of(1.02, 0.88, 0.77, 1.16, 6.8, 14.5)),
      known_with("vllm", ProductType::bf16, 2, constants_of(1.03, 1.26, 0.81, 1.11, 0.2, 33)),
      known_with("vllm", ProductType::fp8, 2, constants_of(0.95, 1.07, 0.94, 0.97, 5.7, 1)),
      known_with("sglang", ProductType::bf16, 2, constants_of(0.92, 1.33, 0.67, 0.81, 0.2, 8.6)),
      known_with("sglang", ProductType::fp8, 2, constants_of(1.04, 1.16, 0.47, 0.98, 0.5, 9.9))};
  return all;
}

const KnownStack& known_stack(const std::string& server, ProductType weights) {
  const bool narrow = weights == ProductType::fp8 || weights == ProductType::fp4;
  std::set<std::string> servers;
  for (const auto& one : known_stacks()) {
    if (one.server == server && (one.weights == ProductType::fp8) == narrow) return one;
    servers.insert(one.server);
  }
  std::string names;
  for (const auto& name : servers) names += (names.empty() ? "" : ", ") + name;
  fail(ErrorKind::usage,
       "the server {} has no constants here. There are {}; for another one name points that you measured: --calibrate "
       "FILE.",
       shown(server), names);
}

}  // namespace assay::predict
