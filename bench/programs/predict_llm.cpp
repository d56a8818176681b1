// predict_llm REQUEST.json: calibrates stacks on rows of published tables and says others, one line of JSON for each
// row and one for each set of constants. Run by bench/predict_llm, which decides which rows those are.
#include <cmath>
#include <cstdio>
#include <set>

#include "assay/core/text/file.hpp"
#include "assay/predict/step/stack.hpp"
#include "assay/predict/step/step_memory.hpp"

namespace assay::bench {
namespace {

constexpr std::size_t kMostBytes = 64u << 20;

struct Source {
  std::string file;
  std::string map;
};
template <typename V>
void describe(V& v, Source& s) {
  required(v, "file", s.file);
  required(v, "map", s.map);
}

/// Rows by their numbers from 0; an empty list stands for all.
struct Request {
  Source calibrate;
  std::vector<std::int64_t> calibrate_rows;
  Source judge;
  std::vector<std::int64_t> judge_rows;
};
template <typename V>
void describe(V& v, Request& r) {
  required(v, "calibrate", r.calibrate);
  v("calibrate_rows", r.calibrate_rows);
  required(v, "judge", r.judge);
  v("judge_rows", r.judge_rows);
}

std::vector<predict::JobRow> chosen(const Source& source, const std::vector<std::int64_t>& rows) {
  const auto map = predict::read_row_map(source.map);
  const predict::NamedColumns table(read_file(source.file, kMostBytes), source.file, "A table of training jobs.");
  auto jobs = read_jobs(table, map);
  for (const auto& one : jobs.refused) {
    std::printf("%s\n", json{{"refused", one.row}, {"why", one.why}}.dump().c_str());
  }
  if (rows.empty()) return jobs.rows;
  const std::set<std::int64_t> wanted(rows.begin(), rows.end());
  std::erase_if(jobs.rows, [&](const auto& job) { return !wanted.contains(static_cast<std::int64_t>(job.row)); });
  return jobs.rows;
}

/// The same share of the peak as the calibrated run that is most like it and the largest.
double same_utilization(const std::vector<predict::JobRow>& known, const predict::JobRow& job) {
  std::vector<const predict::JobRow*> like;
  for (const auto& one : known) {
    if (one.measured_seconds) like.push_back(&one);
  }
  const auto narrow = [&](const auto& is_like) {
    std::vector<const predict::JobRow*> kept;
    for (const auto* one : like) {
      if (is_like(*one)) kept.push_back(one);
    }
    if (!kept.empty()) like = kept;
  };
  narrow([&](const auto& one) { return one.device == job.device; });
  narrow([&](const auto& one) { return one.model == job.model || one.job.model.hidden == job.job.model.hidden; });
  narrow([&](const auto& one) { return one.job.plan.precision == job.job.plan.precision; });
  narrow([&](const auto& one) { return one.job.plan.sequence == job.job.plan.sequence; });
  std::int64_t most = 0;
  for (const auto* one : like) most = std::max(most, one->job.plan.devices);
  narrow([&](const auto& one) { return one.job.plan.devices == most; });
  const auto rate = [](const predict::JobRow& one) {
    return step_flops(one.job.model, one.job.plan) /
           (static_cast<double>(one.job.plan.devices) * one.job.device.sheet.bf16_flops_per_second);
  };
  double logs = 0;
  for (const auto* one : like) logs += std::log(rate(*one) / *one->measured_seconds);
  return rate(job) / std::exp(logs / static_cast<double>(like.size()));
}

void answer(const Request& request) {
  const auto known = chosen(request.calibrate, request.calibrate_rows);
  const predict::Stack stack(predict::read_row_map(request.calibrate.map), known);
  for (const auto& job : chosen(request.judge, request.judge_rows)) {
    const auto said = stack.predict(job);
    const auto memory = step_memory(job.job);
    json line{{"row", job.row},
              {"model", job.model},
              {"device", job.device},
              {"devices", job.job.plan.devices},
              {"seconds", said.seconds},
              {"low", said.low_seconds},
              {"high", said.high_seconds},
              {"regime", said.regime},
              {"rival", same_utilization(known, job)},
              {"tokens", job.job.plan.tokens()},
              {"memory", memory.total()},
              {"fits", fits(memory, job.job.device)},
              {"assumed", job.assumed}};
    if (job.measured_seconds) line["measured"] = *job.measured_seconds;
    if (job.measured_memory_bytes) line["measured_memory"] = *job.measured_memory_bytes;
    std::printf("%s\n", line.dump().c_str());
  }
  std::printf("%s\n", json{{"constants", to_json(stack.constants(""))}, {"rows", stack.rows()}}.dump().c_str());
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const auto text = assay::read_file(argv[1], assay::bench::kMostBytes);
    for (const auto& one : assay::parse_json(text)) {
      assay::bench::answer(assay::from_json<assay::bench::Request>(one));
      std::printf("{\"end\": true}\n");
    }
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "predict_llm: %s\n", error.what());
    return error.exit_code();
  }
}
