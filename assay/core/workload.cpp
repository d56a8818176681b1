#include "assay/core/workload.hpp"

#include "assay/core/text/utf8.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/core/workloads/scenario.hpp"

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
  if (workload.data == kDigits) {
    fail(ErrorKind::usage, "{}: {} is for files that are made. The digits are 1797 images of 8 x 8 pixels.", field,
         *value);
  }
  if (*value < 1 || *value > most) fail(ErrorKind::usage, "{}: {} is outside 1 to {}.", field, *value, most);
}

void check_generation(const Workload& workload) {
  const bool generates = workload.mode == Mode::generate;
  if (workload.generate && !generates) {
    fail(ErrorKind::usage, "prompt_tokens, output_tokens and sequences are for mode generate, and mode is {}.",
         name_of(workload.mode));
  }
  if (!generates) return;
  if (!workload.generate) fail(ErrorKind::usage, "generate: it is missing. Say how many prompt_tokens to begin with.");
  check(*workload.generate);
  if (workload.batch != 1) {
    fail(ErrorKind::usage, "batch: {} where text is generated. Say how many sequences at once with sequences.",
         workload.batch);
  }
}

void check_scenario(const Workload& workload) {
  const auto scenario = scenario_of(workload.load);
  if (!scenario && workload.load && workload.load->server == kInProcess) {
    fail(ErrorKind::usage, "scenario: it is missing, and a rate, a wait or a limit is given. Add one, such as server.");
  }
  if (!scenario) return;
  if (workload.mode != Mode::infer) {
    fail(ErrorKind::usage, "scenario: {} is for mode infer, and mode is {}.", name_of(scenario->kind),
         name_of(workload.mode));
  }
  check(*scenario, workload.batch);
}

constexpr const char* kUnnamed = "command";  // the network of a program that nobody gave a name
constexpr std::size_t kLongestCommand = 60;

/// "./prog --size 4": the words with the batch in its place; mode and batch after them only where they are not the
/// defaults.
std::string command_line(const Workload& workload) {
  std::string out;
  bool has_batch = workload.batch == 1;
  for (auto word : *workload.command) {
    constexpr std::string_view kBatch = "{batch}";
    for (std::size_t at = 0; (at = word.find(kBatch, at)) != std::string::npos; has_batch = true) {
      word.replace(at, kBatch.size(), std::to_string(workload.batch));
    }
    out += (out.empty() ? "" : " ") + word;
  }
  out = printable(out, out.size());  // an argument may hold tabs and line breaks
  auto cut = std::min(out.size(), kLongestCommand);
  while (cut < out.size() && (static_cast<unsigned char>(out[cut]) & 0xC0U) == 0x80U) --cut;  // between characters
  if (cut < out.size()) out = out.substr(0, cut) + "…";
  if (workload.mode != Mode::infer) out += std::string(" ") + name_of(workload.mode);
  if (!has_batch) out += fmt::format(" b{}", workload.batch);
  return out;
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
  check_generation(workload);
  check_learning(workload);
  check_scenario(workload);
  if (workload.command && workload.command->empty()) {
    fail(ErrorKind::usage, "command: the list is empty. Give the program and its arguments.");
  }
}

std::string title(const Workload& workload) {
  const auto scenario = scenario_of(workload.load);
  if (workload.load && !scenario) return title(*workload.load);
  std::string out = workload.command && workload.network == kUnnamed ? command_line(workload)
                    : workload.generate
                        ? fmt::format("{} {} {}", workload.network, name_of(workload.mode), title(*workload.generate))
                        : fmt::format("{} {} b{}", workload.network, name_of(workload.mode), workload.batch);
  if (scenario) out += " " + title(*scenario);
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
