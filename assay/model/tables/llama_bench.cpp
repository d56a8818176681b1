#include "assay/model/tables/llama_bench.hpp"

#include <cmath>
#include <optional>

#include "assay/core/text/naming.hpp"
#include "assay/core/text/utf8.hpp"

namespace assay::model {
namespace {

constexpr JsonLimits kBenchLimits{64u << 20, 16, 2'000'000};
constexpr std::size_t kMostBenchRows = 200'000;
constexpr std::size_t kBenchCellBytes = 200;
constexpr std::size_t kLooksAt = 16384;
constexpr double kMostCount = 9e15;  ///< whole numbers up to here are exact

std::string bench_text(const json& test, const char* key) {
  const auto found = test.find(key);
  const bool has = found != test.end() && found->is_string() && !found->get_ref<const std::string&>().empty();
  return has ? printable(found->get_ref<const std::string&>(), kBenchCellBytes) : "unknown";
}

/// A whole number from 0 on; 0 where it is missing.
std::int64_t bench_count(const json& test, const char* key) {
  const auto found = test.find(key);
  if (found == test.end() || found->is_null()) return 0;
  const double value = found->is_number() ? found->get<double>() : -1;
  if (!(value >= 0 && value <= kMostCount) || value != std::floor(value)) {
    fail(ErrorKind::bad_input, "{} is not a whole number from 0 on.", key);
  }
  return static_cast<std::int64_t>(value);
}

double seconds_of(const json& value) {
  const double ns = value.is_number() ? value.get<double>() : 0;
  if (!std::isfinite(ns) || ns <= 0) fail(ErrorKind::bad_input, "a time in nanoseconds is not above 0.");
  return ns / 1e9;
}

/// One for each repetition.
std::vector<double> bench_seconds(const json& test) {
  std::vector<double> out;
  if (const auto samples = test.find("samples_ns"); samples != test.end() && samples->is_array()) {
    for (const auto& one : *samples) out.push_back(seconds_of(one));
  }
  if (const auto mean = test.find("avg_ns"); out.empty() && mean != test.end()) out.push_back(seconds_of(*mean));
  if (out.empty()) fail(ErrorKind::bad_input, "it has neither samples_ns nor avg_ns.");
  return out;
}

const char* bench_phase(std::int64_t prompt, std::int64_t output) {
  if (prompt > 0 && output > 0) return "answer";
  return prompt > 0 ? "prefill" : "decode";
}

/// f16, or q8_0/f16 where keys and values differ.
std::string bench_cache(const json& test) {
  const auto keys = bench_text(test, "type_k");
  const auto values = bench_text(test, "type_v");
  return keys == values ? keys : keys + "/" + values;
}

void add_test(Frame& frame, const json& test) {
  if (!test.is_object()) fail(ErrorKind::bad_input, "it is not an object.");
  const auto prompt = bench_count(test, "n_prompt");
  const auto output = bench_count(test, "n_gen");
  if (prompt == 0 && output == 0) {
    fail(ErrorKind::bad_input, "n_prompt and n_gen are 0, so nothing was measured.");
  }
  const auto count = [&](const char* key) { return fmt::format("{}", bench_count(test, key)); };
  std::vector<std::string> row{bench_text(test, "model_type"),
                               count("model_n_params"),
                               count("model_size"),
                               bench_text(test, "backends"),
                               bench_text(test, "build_commit"),
                               count("n_threads"),
                               count("n_batch"),
                               count("n_ubatch"),
                               bench_cache(test),
                               bench_phase(prompt, output),
                               fmt::format("{}", prompt),
                               fmt::format("{}", output),
                               count("n_depth"),
                               ""};
  for (const double seconds : bench_seconds(test)) {
    if (frame.rows.size() == kMostBenchRows) {
      fail(ErrorKind::bad_input, "the file has more than {} repetitions.", kMostBenchRows);
    }
    row.back() = fmt::format("{}", seconds);
    frame.rows.push_back(row);
  }
}

}  // namespace

bool is_llama_bench(std::string_view text) {
  const auto head = text.substr(0, kLooksAt);
  const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  const auto first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head[first] == '[' && has("\"n_prompt\"") && has("\"n_gen\"") &&
         has("\"model_type\"");
}

Frame import_llama_bench(std::string_view text) {
  const auto tests = parse_json(text, kBenchLimits);
  if (!tests.is_array() || tests.empty()) {
    fail(ErrorKind::bad_input, "it is not a list of tests, as llama-bench -o json prints it.");
  }
  Frame frame{{"model", "parameters", "model_bytes", "backend", "release", "threads", "batch_tokens", "prefill_tokens",
               "cache", "phase", "prompt_tokens", "output_tokens", "depth", "seconds"},
              {}};
  for (std::size_t i = 0; i < tests.size(); ++i) {
    naming(fmt::format("test {}", i + 1), [&] { add_test(frame, tests[i]); });
  }
  return frame;
}

}  // namespace assay::model
