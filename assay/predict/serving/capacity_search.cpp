#include "assay/predict/serving/capacity_search.hpp"

#include <algorithm>
#include <limits>

namespace assay::predict {
namespace {

constexpr double kLeastGain = 1.03;

double cost_of(const CapacityOption& option, bool priced) {
  if (option.replicas == 0) return std::numeric_limits<double>::infinity();
  return priced ? *option.price_per_million_tokens : option.kwh_per_million_tokens;
}

/// The question with one thing changed, and the words for it.
struct ServiceChange {
  std::string words;
  CapacityQuestion question;
  std::int64_t split = 1;
};

std::vector<ServiceChange> changes_of(const CapacityQuestion& asked, const DeviceSheet& sheet, std::int64_t split,
                                      const std::vector<std::int64_t>& splits) {
  std::vector<ServiceChange> changes;
  const auto add = [&](std::string words, const CapacityQuestion& changed, std::int64_t tensor) {
    changes.push_back({std::move(words), changed, tensor});
  };
  if (asked.model.weights == ProductType::bf16) {
    auto narrow = asked;
    narrow.model.weights = sheet.fp8_flops_per_second ? ProductType::fp8 : ProductType::int8;
    add(fmt::format("weights in {}", name_of(narrow.model.weights)), narrow, split);
  }
  if (asked.model.weights != ProductType::int4) {
    auto narrow = asked;
    narrow.model.weights = ProductType::int4;
    add("weights in int4", narrow, split);
  }
  if (asked.stack.cache_element_bytes > 1) {
    auto narrow = asked;
    narrow.stack.cache_element_bytes = 1;
    add("caches in 8 bits", narrow, split);
  }
  if (asked.load.prompt_tokens > 1) {
    auto cached = asked;
    cached.load.prompt_tokens /= 2;
    for (auto& one : cached.load.lengths.listed) one.prompt_tokens = std::max<std::int64_t>(1, one.prompt_tokens / 2);
    add("prompts of half the length, as with a prefix that is cached", cached, split);
  }
  for (std::size_t i = 0; i < asked.limits.size(); ++i) {
    auto patient = asked;
    patient.limits[i].seconds *= 2;
    add(fmt::format("{} p{:g} of {:.3g} s allowed", name_of(patient.limits[i].time), 100 * patient.limits[i].quantile,
                    patient.limits[i].seconds),
        patient, split);
  }
  for (const auto other : splits) {
    if (other == 2 * split) add(fmt::format("a tensor split of {}, for each device", other), asked, other);
  }
  return changes;
}

std::vector<ServiceAdvice> advice_for(const CapacityOption& best, const ServiceQuestion& question,
                                      const KernelTimes& times) {
  std::vector<ServiceAdvice> advice;
  if (!best.rate_per_server || !(*best.rate_per_server > 0)) return advice;
  for (const auto& change : changes_of(question.asked, times.sheet(), best.tensor, question.splits)) {
    const auto then = find_capacity(change.question, times, change.split);
    if (!then.rate_per_server) continue;
    const double devices = static_cast<double>(change.split) / static_cast<double>(best.tensor);
    const double gain = *then.rate_per_server / *best.rate_per_server / devices;
    if (gain > kLeastGain) advice.push_back({change.words, gain});
  }
  std::sort(advice.begin(), advice.end(), [](const auto& a, const auto& b) { return a.gain > b.gain; });
  return advice;
}

/// A split that the heads do not allow, and the like, is an option with its reason.
CapacityOption option_of(const CapacityQuestion& asked, const KernelTimes& times, std::int64_t split) {
  try {
    auto model = asked.model;
    model.tensor = split;
    check(model);
    return find_capacity(asked, times, split);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    CapacityOption option;
    option.device = times.sheet().name;
    option.tensor = split;
    option.refused = error.what();
    return option;
  }
}

}  // namespace

ServiceAnswer search_capacity(const ServiceQuestion& question) {
  const auto& asked = question.asked;
  ServiceAnswer answer;
  answer.model = asked.model.shape.name;
  answer.parameters = static_cast<double>(parameters_of(asked.model.shape));
  answer.weights = asked.model.weights;
  answer.prompt_tokens = asked.load.prompt_tokens;
  answer.output_tokens = asked.load.output_tokens;
  if (asked.load.lengths.kind != LengthKind::alike) answer.lengths = asked.load.lengths.kind;
  if (asked.load.lengths.width > 0) answer.length_width = asked.load.lengths.width;
  if (asked.load.rate > 0) answer.rate_per_second = asked.load.rate;
  if (!(asked.load.rate > 0)) answer.concurrency = asked.load.concurrency;
  answer.limits = asked.limits;
  std::map<std::string, KernelTimes> times;
  bool priced = true;
  for (const auto& device : question.devices) {
    const auto& kernels = times.emplace(device.sheet.name, KernelTimes(device)).first->second;
    auto own = asked;
    const auto price = question.prices.find(device.sheet.name);
    if (price != question.prices.end()) own.price_per_hour = price->second;
    priced = priced && own.price_per_hour.has_value();
    for (const auto split : question.splits) answer.options.push_back(option_of(own, kernels, split));
  }
  std::stable_sort(answer.options.begin(), answer.options.end(),
                   [&](const auto& a, const auto& b) { return cost_of(a, priced) < cost_of(b, priced); });
  if (!answer.options.empty() && answer.options.front().replicas > 0) {
    const auto& best = answer.options.front();
    answer.advice = advice_for(best, question, times.at(best.device));
  }
  return answer;
}

}  // namespace assay::predict
