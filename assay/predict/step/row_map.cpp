#include "assay/predict/step/row_map.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "assay/core/text/file.hpp"
#include "assay/core/text/number.hpp"
#include "assay/predict/models/catalogue.hpp"

namespace assay::predict {
namespace {

constexpr std::size_t kMostMapBytes = 1u << 20;

const std::set<std::string>& job_fields() {
  static const std::set<std::string> fields{"model",
                                            "hidden",
                                            "layers",
                                            "heads",
                                            "kv_heads",
                                            "feedforward",
                                            "gated",
                                            "vocabulary",
                                            "learned_positions",
                                            "device",
                                            "devices",
                                            "tensor",
                                            "pipeline",
                                            "context",
                                            "experts",
                                            "interleaving",
                                            "shard",
                                            "shard_times_context",
                                            "sharded_optimizer",
                                            "sequence",
                                            "microbatch",
                                            "global_batch",
                                            "local_batch",
                                            "microbatches",
                                            "pipeline_microbatches",
                                            "recompute",
                                            "precision",
                                            "schedule",
                                            "flash_attention",
                                            "sequence_parallel",
                                            "async_tensor",
                                            "compiled",
                                            "balanced_head",
                                            "overlapped_gradients",
                                            "early_stop",
                                            "adapters_only",
                                            "gradient_bytes",
                                            "state_bytes",
                                            "output_bytes",
                                            "rail_gbits",
                                            "memory_gb",
                                            "memory_gb_per_second",
                                            "memory_gib"};
  return fields;
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// One row, by the names of a job's fields.
class RowFields {
 public:
  RowFields(const NamedColumns& table, const RowMap& map, std::size_t row) : table_(table), map_(map), row_(row) {}

  std::string text(const std::string& field) const {
    std::string cell;
    if (const auto column = map_.columns.find(field); column != map_.columns.end() && table_.has(column->second)) {
      cell = table_.text(row_, column->second);
    } else if (const auto fixed = map_.fixed.find(field); fixed != map_.fixed.end()) {
      return fixed->second;
    }
    const auto values = map_.values.find(field);
    if (values == map_.values.end()) return cell;
    if (const auto found = values->second.find(cell); found != values->second.end()) return found->second;
    const auto other = values->second.find("*");
    return other != values->second.end() ? other->second : cell;
  }

  std::optional<double> number(const std::string& field) const {
    const auto value = parse_number<double>(text(field));
    return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
  }

  double needed(const std::string& field) const {
    if (const auto value = number(field)) return *value;
    fail(ErrorKind::bad_input, "{} is {}; it is a number above zero", field, shown(text(field)));
  }

  std::int64_t count(const std::string& field, std::int64_t otherwise) const {
    const auto value = number(field);
    return value && *value < 1e12 ? std::max<std::int64_t>(1, std::llround(*value)) : otherwise;
  }

  const RowMap& map() const { return map_; }

  bool flag(const std::string& field, bool otherwise) const {
    const auto cell = lower_case(text(field));
    if (cell.empty()) return otherwise;
    return cell == "1" || cell == "true" || cell == "yes" || cell == "1.0";
  }

 private:
  const NamedColumns& table_;
  const RowMap& map_;
  std::size_t row_;
};

/// The shape that columns state: a decoder of equal blocks, with biases as GPT-2 has them where it is not gated.
ModelShape stated_shape(const RowFields& f) {
  ModelShape m;
  m.hidden = std::llround(f.needed("hidden"));
  m.layers = std::llround(f.needed("layers"));
  m.heads = std::llround(f.needed("heads"));
  m.kv_heads = f.count("kv_heads", m.heads);
  m.head_dim = std::max<std::int64_t>(1, m.hidden / std::max<std::int64_t>(1, m.heads));
  m.feedforward = f.count("feedforward", 4 * m.hidden);
  m.vocabulary = f.count("vocabulary", 50257);
  m.gated = f.flag("gated", false);
  m.tied = !m.gated;
  m.norm_bias = m.qkv_bias = m.output_bias = m.feedforward_bias = !m.gated;
  m.positions = f.flag("learned_positions", true) ? f.count("sequence", 0) : 0;
  m.name = fmt::format("{}x{}", m.hidden, m.layers);
  m.source = "the row";
  return m;
}

ModelShape shape_of(const RowFields& f, std::vector<std::string>& assumed) {
  if (!f.text("hidden").empty()) return stated_shape(f);
  const auto name = f.text("model");
  if (const auto own = f.map().models.find(name); own != f.map().models.end()) return own->second;
  if (auto known = find_model(name)) {
    if (lower_case(name).find("w/o mtp") != std::string::npos) known->extra_predictions = 0;
    return *known;
  }
  const auto size = stated_size(name);
  if (!size)
    fail(ErrorKind::bad_input, "the model {} is not in the catalogue, and its name states no size", shown(name));
  assumed.push_back(fmt::format("the shape of {}: a Llama of its size", shown(name)));
  return guessed_model(name, size->parameters, size->active);
}

StepDevice device_of_row(const RowFields& f, std::vector<std::string>& assumed) {
  const auto name = f.text("device");
  const auto own = f.map().machines.find(name);
  const bool is_own = own != f.map().machines.end();
  const bool known = is_own || is_step_device(name);
  if (!known) assumed.push_back(fmt::format("the device {}: an H100", shown(name)));
  auto device = is_own ? own->second : known ? step_device(name) : guessed_device(name);
  if (const auto rail = f.number("rail_gbits")) device.rail_bytes_per_second = *rail * 1e9 / 8;
  if (const auto memory = f.number("memory_gb")) device.sheet.memory_bytes = *memory * 1e9;
  if (const auto rate = f.number("memory_gb_per_second")) device.sheet.memory_bytes_per_second = *rate * 1e9;
  return device;
}

StepPrecision precision_of(const std::string& text) {
  const auto name = lower_case(text);
  if (name.find("fp4") != std::string::npos) return StepPrecision::fp4;
  const bool narrow = name.find("fp8") != std::string::npos || name.find("float8") != std::string::npos;
  return narrow ? StepPrecision::fp8 : StepPrecision::bf16;
}

Recomputing recompute_of(const std::string& text) {
  const auto name = lower_case(text);
  if (name == "attention") return Recomputing::attention;
  if (name.find("selective") != std::string::npos) return Recomputing::selective;
  return name == "full" || name == "true" ? Recomputing::full : Recomputing::none;
}

void read_batches(const RowFields& f, StepPlan& p) {
  if (const auto local = f.number("local_batch")) {
    p.microbatches = p.pipeline > 1 ? static_cast<double>(f.count("pipeline_microbatches", p.pipeline)) : 1;
    p.microbatch = *local / p.microbatches;
    return;
  }
  p.microbatch = f.number("microbatch").value_or(1);
  const auto global = f.number("global_batch");
  p.microbatches = f.number("microbatches").value_or(global ? *global / (p.microbatch * p.data()) : 1);
  p.microbatches = std::max(1.0, p.microbatches);
}

StepPlan plan_of(const RowFields& f) {
  StepPlan p;
  p.devices = std::llround(f.needed("devices"));
  p.tensor = f.count("tensor", 1);
  p.pipeline = f.count("pipeline", 1);
  p.context = f.count("context", 1);
  p.experts = f.count("experts", 1);
  p.interleaving = f.count("interleaving", 1);
  p.shard = f.count("shard", 0);
  if (p.shard > 0 && f.flag("shard_times_context", false)) p.shard *= p.context;
  p.sharded_optimizer = f.flag("sharded_optimizer", false);
  p.sequence = std::llround(f.needed("sequence"));
  read_batches(f, p);
  p.recompute = recompute_of(f.text("recompute"));
  p.precision = precision_of(f.text("precision"));
  const auto schedule = lower_case(f.text("schedule"));
  if (schedule.find("zero") != std::string::npos || schedule.find("zbv") != std::string::npos) {
    p.schedule = PipelineSchedule::zero_bubble;
  }
  if (schedule.find("interleaved") != std::string::npos && p.interleaving == 1) p.interleaving = 2;
  p.flash_attention = f.flag("flash_attention", true);
  p.sequence_parallel = f.flag("sequence_parallel", false);
  p.async_tensor = f.flag("async_tensor", false);
  p.compiled = f.flag("compiled", true);
  p.balanced_head = f.flag("balanced_head", false);
  p.overlapped_gradients = f.flag("overlapped_gradients", false);
  p.early_stop = f.flag("early_stop", true);
  p.adapters_only = f.flag("adapters_only", false);
  p.gradient_bytes = f.number("gradient_bytes").value_or(2);
  p.state_bytes = f.number("state_bytes").value_or(p.state_bytes);
  p.output_bytes = f.number("output_bytes").value_or(p.output_bytes);
  return p;
}

std::optional<double> measured_of(const NamedColumns& table, const RowMap& map, std::size_t row, const StepPlan& plan) {
  if (map.measured_column.empty() || !table.has(map.measured_column)) return std::nullopt;
  const auto value = parse_number<double>(table.text(row, map.measured_column));
  if (!value || !std::isfinite(*value) || *value <= 0) return std::nullopt;
  switch (map.measured_kind) {
    case MeasuredKind::seconds:
      return *value;
    case MeasuredKind::milliseconds:
      return *value / 1000;
    case MeasuredKind::tokens_per_second_per_device:
      return plan.tokens() / static_cast<double>(plan.devices) / *value;
  }
  return std::nullopt;
}

std::string effect_of_row(const NamedColumns& table, const std::vector<std::string>& effect, const JobRow& job) {
  std::string value;
  for (const auto& part : effect) {
    value += part == "model"    ? job.model
             : part == "device" ? job.device
             : part == "kind"   ? (job.work.has_experts ? "experts" : "dense")
             : table.has(part)  ? table.text(job.row, part)
                                : "";
    value += '|';
  }
  return value;
}

JobRow job_of(const NamedColumns& table, const RowMap& map, std::size_t row) {
  const RowFields fields(table, map, row);
  JobRow job;
  job.row = row;
  job.job.model = shape_of(fields, job.assumed);
  job.job.device = device_of_row(fields, job.assumed);
  job.job.plan = plan_of(fields);
  job.job.plan.recompute_stated = map.columns.contains("recompute") || map.fixed.contains("recompute");
  check(job.job);
  job.work = step_work(job.job);
  job.model = job.job.model.name;
  job.device = fields.text("device");
  for (const auto& effect : map.effects) job.effects.push_back(effect_of_row(table, effect, job));
  for (const auto& column : map.group) job.group += (table.has(column) ? table.text(row, column) : "") + "|";
  job.measured_seconds = measured_of(table, map, row, job.job.plan);
  if (const auto gib = fields.number("memory_gib")) job.measured_memory_bytes = *gib * 1024 * 1024 * 1024;
  return job;
}

}  // namespace

RowMap parse_row_map(std::string_view text, const std::string& file_name) {
  RowMap map;
  try {
    JsonLimits limits;
    limits.bytes = kMostMapBytes;
    map = from_json<RowMap>(parse_json(text, limits));
  } catch (const Error& error) {
    fail(ErrorKind::bad_input, "{}: {}", file_name, error.what());
  }
  const auto known = [&](const std::string& field) {
    if (job_fields().contains(field)) return;
    fail(ErrorKind::bad_input, "{}: {} is not a field of a job. docs/predict.md lists them.", file_name, shown(field));
  };
  for (const auto& [field, column] : map.columns) known(field);
  for (const auto& [field, value] : map.fixed) known(field);
  for (const auto& [field, value] : map.values) known(field);
  auto names = map.constants;
  for (const auto& [name, value] : map.start) {
    if (!(value > 0)) fail(ErrorKind::bad_input, "{}: start.{} is {}; it is above zero.", file_name, name, value);
    names.push_back(name);
  }
  for (const auto& name : names) {
    const auto& specs = step_constant_specs();
    if (std::any_of(specs.begin(), specs.end(), [&](const auto& s) { return name == s.name; })) continue;
    std::string all;
    for (const auto& spec : specs) all += (all.empty() ? "" : ", ") + std::string(spec.name);
    fail(ErrorKind::bad_input, "{}: {} is not a constant of a step; they are {}.", file_name, shown(name), all);
  }
  return map;
}

RowMap read_row_map(const std::string& path) {
  const auto text = read_file(path, kMostMapBytes);
  if (text.size() > kMostMapBytes) fail(ErrorKind::bad_input, "{} is larger than 1 MiB.", path);
  return parse_row_map(text, path);
}

JobRows read_jobs(const NamedColumns& table, const RowMap& map) {
  JobRows jobs;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    try {
      jobs.rows.push_back(job_of(table, map, row));
    } catch (const Error& error) {
      jobs.refused.push_back({row, error.what()});
    }
  }
  return jobs;
}

}  // namespace assay::predict
