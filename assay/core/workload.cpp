#include "assay/core/workload.hpp"

namespace assay {
namespace {

constexpr std::int64_t kMostBatch = 1 << 24;

std::string scalar_text(const Scalar& value) {
  const json text = mapping::scalar_to_json(value);
  return text.is_string() ? text.get<std::string>() : text.dump();
}

}  // namespace

void check(const Workload& workload) {
  if (workload.network.empty()) fail(ErrorKind::usage, "network: it is empty. Name a network, such as toy.");
  if (workload.batch < 1 || workload.batch > kMostBatch) {
    fail(ErrorKind::usage, "batch: {} is outside 1 to {}.", workload.batch, kMostBatch);
  }
  if (workload.command && workload.command->empty()) {
    fail(ErrorKind::usage, "command: the list is empty. Give the program and its arguments.");
  }
}

std::string title(const Workload& workload) {
  std::string out = fmt::format("{} {} b{}", workload.network, name_of(workload.mode), workload.batch);
  if (workload.precision != "fp32") out += " " + workload.precision;
  if (workload.data != "memory") out += " data=" + workload.data;
  for (const auto& [name, value] : workload.options) out += fmt::format(" {}={}", name, scalar_text(value));
  return out;
}

template json to_json_value<Workload>(const Workload&);
template void from_json_value<Workload>(const json&, const std::string&, Workload&);

}  // namespace assay
