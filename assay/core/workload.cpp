#include "assay/core/workload.hpp"

namespace assay {
namespace {

constexpr std::int64_t kMostBatch = 1 << 24;
constexpr std::int64_t kMostDataCount = 100'000'000;
constexpr std::int64_t kMostDataSide = 8192;
constexpr std::int64_t kMostDataChunks = 1'000'000;

void check_data_set(const Workload& workload, const char* field, const std::optional<std::int64_t>& value,
                    std::int64_t most) {
  if (!value) return;
  if (workload.data == "memory") {
    fail(ErrorKind::usage, "{}: {} of what? data is memory, which has no data set. Set data to files.", field, *value);
  }
  if (*value < 1 || *value > most) fail(ErrorKind::usage, "{}: {} is outside 1 to {}.", field, *value, most);
}

}  // namespace

void check(const Workload& workload) {
  if (workload.network.empty()) fail(ErrorKind::usage, "network: it is empty. Name a network, such as toy.");
  if (workload.batch < 1 || workload.batch > kMostBatch) {
    fail(ErrorKind::usage, "batch: {} is outside 1 to {}.", workload.batch, kMostBatch);
  }
  check_data_set(workload, "data_count", workload.data_count, kMostDataCount);
  check_data_set(workload, "data_side", workload.data_side, kMostDataSide);
  check_data_set(workload, "data_chunks", workload.data_chunks, kMostDataChunks);
  if (workload.command && workload.command->empty()) {
    fail(ErrorKind::usage, "command: the list is empty. Give the program and its arguments.");
  }
}

std::string title(const Workload& workload) {
  std::string out = fmt::format("{} {} b{}", workload.network, name_of(workload.mode), workload.batch);
  if (workload.precision != "fp32") out += " " + workload.precision;
  if (workload.data != "memory") out += " data=" + workload.data;
  if (workload.data_count) out += fmt::format(" data_count={}", *workload.data_count);
  if (workload.data_side) out += fmt::format(" data_side={}", *workload.data_side);
  if (workload.data_chunks) out += fmt::format(" data_chunks={}", *workload.data_chunks);
  for (const auto& [name, value] : workload.options)
    out += fmt::format(" {}={}", name, plain_text(mapping::scalar_to_json(value)));
  return out;
}

template json to_json_value<Workload>(const Workload&);
template void from_json_value<Workload>(const json&, const std::string&, Workload&);

}  // namespace assay
