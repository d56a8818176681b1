// predict_llm REQUEST.json: calibrates stacks on rows of published tables and says others, one line of JSON for each
// row, one for each row that cannot be said, and one for each set of constants. Run by bench/predict_llm, which decides
// which rows those are.
#include <cmath>
#include <cstdio>
#include <optional>

#include "assay/core/text/file.hpp"
#include "assay/predict/step/stack.hpp"
#include "assay/predict/step/step_memory.hpp"
#include "assay/predict/transformer/transformer.hpp"

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

/// The map of the first table to calibrate on says which constants are found.
struct Request {
  std::vector<Source> calibrate;
  Source judge;
};
template <typename V>
void describe(V& v, Request& r) {
  required(v, "calibrate", r.calibrate);
  required(v, "judge", r.judge);
}

void say(const json& line) {
  std::printf("%s\n", line.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
}

predict::JobRows jobs_of(const Source& source) {
  const predict::NamedColumns table(read_file(source.file, kMostBytes), source.file, "A table of training jobs.");
  return read_jobs(table, predict::read_row_map(source.map));
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

std::int64_t whole(double value) {
  return std::max<std::int64_t>(1, std::llround(value));
}

/// The formula of Megatron of 2022, as commit e21786a had it: products, passes and links at one share of their rates,
/// from data sheets alone. Null where it has no such split or numbers do not divide.
std::optional<predict::TransformerStep> old_formula(const predict::StepJob& job, bool& fits_there) {
  const auto& p = job.plan;
  if (job.model.experts.count > 0 || job.model.states.count > 0 || p.context > 1) return std::nullopt;
  const predict::TransformerShape shape{job.model.hidden, job.model.feedforward, p.sequence,
                                        job.model.heads,  job.model.layers,      job.model.vocabulary};
  predict::TransformerPlan plan;
  plan.tensor = p.tensor;
  plan.pipeline = p.pipeline;
  plan.data = whole(p.data());
  plan.interleaving = p.interleaving;
  plan.microbatch = whole(p.microbatch);
  plan.batch = plan.data * plan.microbatch * whole(p.microbatches);
  plan.recompute = p.recompute == predict::Recomputing::full        ? predict::Recompute::full
                   : p.recompute == predict::Recomputing::attention ? predict::Recompute::attention
                                                                    : predict::Recompute::none;
  plan.sequence_parallel = p.sequence_parallel;
  plan.zero = p.shard > 1 ? 3 : p.sharded_optimizer ? 1 : 0;
  const bool inside = p.tensor <= job.device.node_devices;
  const bool alone = p.devices <= job.device.node_devices;
  const predict::TransformerDevice device{
      job.device.sheet.bf16_flops_per_second,
      job.device.sheet.memory_bytes_per_second,
      job.device.sheet.memory_bytes,
      inside ? job.device.inside_bytes_per_second : job.device.rail_bytes_per_second,
      alone ? job.device.inside_bytes_per_second : job.device.rail_bytes_per_second,
      predict::ShareRange{}.middle()};
  try {
    fits_there = fits(transformer_memory(shape, plan), device);
    return transformer_step(shape, plan, device);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void answer_row(const predict::Stack& stack, const std::vector<predict::JobRow>& known, const predict::JobRow& job) {
  const auto said = stack.predict(job);
  if (!std::isfinite(said.seconds) || said.seconds <= 0) {
    say({{"refused", job.row}, {"why", "its predicted time is not a number above zero"}});
    return;
  }
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
  bool old_fits = false;
  if (const auto old = old_formula(job.job, old_fits)) {
    line["old"] = old->seconds;
    line["old_fits"] = old_fits;
  }
  if (job.measured_seconds) line["measured"] = *job.measured_seconds;
  if (job.measured_memory_bytes) line["measured_memory"] = *job.measured_memory_bytes;
  say(line);
}

void answer(const Request& request) {
  if (request.calibrate.empty()) fail(ErrorKind::usage, "calibrate is empty");
  std::vector<predict::JobRow> known;
  std::size_t refused = 0;
  for (const auto& source : request.calibrate) {
    auto jobs = jobs_of(source);
    refused += jobs.refused.size();
    known.insert(known.end(), jobs.rows.begin(), jobs.rows.end());
  }
  const predict::Stack stack(predict::read_row_map(request.calibrate.front().map), known);
  const auto judged = jobs_of(request.judge);
  for (const auto& one : judged.refused) say({{"refused", one.row}, {"why", one.why}});
  for (const auto& job : judged.rows) answer_row(stack, known, job);
  json choices = json::array();
  for (const auto& one : stack.choices()) choices.push_back(to_json(one));
  say({{"constants", to_json(stack.constants(""))},
       {"rows", stack.rows()},
       {"not_calibrated", refused},
       {"choices", choices}});
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const auto text = assay::read_file(argv[1], assay::bench::kMostBytes);
    for (const auto& one : assay::parse_json(text)) {
      try {
        assay::bench::answer(assay::from_json<assay::bench::Request>(one));
      } catch (const assay::Error& error) {  // of one table: the others can still be said
        assay::bench::say({{"failed", error.what()}});
      }
    }
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "predict_llm: %s\n", error.what());
    return error.exit_code();
  }
}
