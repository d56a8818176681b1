#include "assay/plan/sweeps/axis.hpp"

#include <algorithm>
#include <array>

#include "assay/core/text/units.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/core/workloads/scenario.hpp"

namespace assay::plan {
namespace {

template <typename E>
std::vector<std::string> names_of() {
  return {EnumNames<E>::names.begin(), EnumNames<E>::names.end()};
}

template <typename E>
E enum_value(const Scalar& value) {
  const auto& names = EnumNames<E>::names;
  const auto it = std::find(names.begin(), names.end(), std::get<std::string>(value));
  ASSAY_CHECK(it != names.end());
  return static_cast<E>(it - names.begin());
}

const std::string& text_of(const Scalar& value) {
  return std::get<std::string>(value);
}

std::int64_t number_of(const Scalar& value) {
  return std::get<std::int64_t>(value);
}

/// An axis over the setting that `member` points to.
template <auto member>
void apply_number(Trial& trial, const std::string&, const Scalar& value) {
  trial.settings.*member = number_of(value);
}

template <auto member>
void apply_text(Trial& trial, const std::string&, const Scalar& value) {
  trial.settings.*member = text_of(value);
}

template <auto member, typename E>
void apply_enum(Trial& trial, const std::string&, const Scalar& value) {
  trial.settings.*member = enum_value<E>(value);
}

/// The value is "name==release" by the time it is applied.
void apply_worker(Trial& trial, const std::string&, const Scalar& value) {
  const std::string& text = text_of(value);
  const auto equals = std::min(text.find("=="), text.size());
  trial.worker.name = text.substr(0, equals);
  trial.worker.release = text.substr(std::min(equals + 2, text.size()));
}

/// A trial for which a number of tokens is written generates.
Generation& generation_of(Trial& trial) {
  if (!trial.workload.generate) trial.workload.generate.emplace();
  if (trial.workload.mode == Mode::infer) trial.workload.mode = Mode::generate;
  return *trial.workload.generate;
}

/// Applied after the axes below it: a mode that is written stands.
void apply_mode(Trial& trial, const std::string&, const Scalar& value) {
  trial.workload.mode = enum_value<Mode>(value);
  if (trial.workload.mode == Mode::generate) generation_of(trial);
}

template <auto member>
void apply_tokens(Trial& trial, const std::string&, const Scalar& value) {
  generation_of(trial).*member = number_of(value);
}

/// A trial for which a scenario, a rate, a wait or a limit is written is a load on its worker.
ServerLoad& load_of(Trial& trial) {
  if (!trial.workload.load) trial.workload.load.emplace();
  trial.workload.load->server = kInProcess;
  return *trial.workload.load;
}

void apply_scenario(Trial& trial, const std::string&, const Scalar& value) {
  load_of(trial).api = text_of(value);
  complete_arrivals(load_of(trial));
}

void apply_rate(Trial& trial, const std::string&, const Scalar& value) {
  const auto* const whole = std::get_if<std::int64_t>(&value);
  const auto* const real = std::get_if<double>(&value);
  if (whole == nullptr && real == nullptr) {
    fail(ErrorKind::usage, "rate: {} is not a number of queries a second, such as 50 or 0.5.",
         plain_text(mapping::scalar_to_json(value)));
  }
  load_of(trial).rate_per_second = whole != nullptr ? static_cast<double>(*whole) : *real;
}

/// No wait is a wait of 0.
void apply_batch_wait(Trial& trial, const std::string&, const Scalar& value) {
  const auto seconds = parse_seconds(text_of(value), "batch_wait");
  load_of(trial).batch_wait_seconds = seconds == 0 ? std::nullopt : std::optional(seconds);
}

void apply_slo(Trial& trial, const std::string&, const Scalar& value) {
  load_of(trial).limit = parse_tail_limit(text_of(value), "slo");
}

/// An option of a trial that learns. Mode, batch and data that are written stand: they are applied after this.
void apply_learning(Trial& trial, const char* name, const Scalar& value) {
  complete_learning(trial.workload);
  trial.workload.options[name] = value;
}

using Field = void (*)(Trial&, const std::string&, const Scalar&);

Axis setting(const char* name, AxisKind kind, Field apply, std::vector<std::string> choices = {}) {
  return {std::string("settings.") + name, kind, true, std::move(choices), apply};
}

std::vector<Axis> workload_axes() {
  return {
      {"network", AxisKind::words, false, {}, [](Trial& t, auto&, auto& v) { t.workload.network = text_of(v); }},
      {"worker", AxisKind::words, false, {}, apply_worker},
      {"mode", AxisKind::words, false, names_of<Mode>(), apply_mode},
      {"batch", AxisKind::numbers, false, {}, [](Trial& t, auto&, auto& v) { t.workload.batch = number_of(v); }},
      {"precision", AxisKind::words, false, {}, [](Trial& t, auto&, auto& v) { t.workload.precision = text_of(v); }},
      {"data", AxisKind::words, false, {}, [](Trial& t, auto&, auto& v) { t.workload.data = text_of(v); }},
      {"data_count",
       AxisKind::numbers,
       true,
       {},
       [](Trial& t, auto&, auto& v) { t.workload.data_count = number_of(v); }},
      {"data_side", AxisKind::numbers, true, {}, [](Trial& t, auto&, auto& v) { t.workload.data_side = number_of(v); }},
      {"data_chunks",
       AxisKind::numbers,
       true,
       {},
       [](Trial& t, auto&, auto& v) { t.workload.data_chunks = number_of(v); }},
      {"prompt_tokens", AxisKind::numbers, false, {}, apply_tokens<&Generation::prompt_tokens>},
      {"output_tokens", AxisKind::numbers, false, {}, apply_tokens<&Generation::output_tokens>},
      {"sequences", AxisKind::numbers, false, {}, apply_tokens<&Generation::sequences>},
      {"cache_precision",
       AxisKind::words,
       true,
       {},
       [](Trial& t, auto&, auto& v) { generation_of(t).cache_precision = text_of(v); }},
      {"tokens", AxisKind::words, false, names_of<TokenChoice>(),
       [](Trial& t, auto&, auto& v) { generation_of(t).tokens = enum_value<TokenChoice>(v); }},
      {"scenario", AxisKind::words, false, names_of<ScenarioKind>(), apply_scenario},
      {"rate", AxisKind::scalars, false, {}, apply_rate},
      {"batch_wait", AxisKind::words, true, {}, apply_batch_wait},
      {"slo", AxisKind::words, false, {}, apply_slo},
      {"until", AxisKind::words, false, {}, [](Trial& t, auto&, auto& v) { apply_learning(t, "until", v); }},
      {"epochs", AxisKind::numbers, false, {}, [](Trial& t, auto&, auto& v) { apply_learning(t, "epochs", v); }},
      {"optimizer", AxisKind::words, false, names_of<Optimizer>(),
       [](Trial& t, auto&, auto& v) { apply_learning(t, "optimizer", v); }},
      {"learning_rate",
       AxisKind::scalars,
       false,
       {},
       [](Trial& t, auto&, auto& v) { apply_learning(t, "learning_rate", v); }},
      {"options.", AxisKind::scalars, true, {}, [](Trial& t, auto& m, auto& v) { t.workload.options[m] = v; }},
  };
}

std::vector<Axis> setting_axes() {
  using S = Settings;
  return {
      setting("instances", AxisKind::numbers, apply_number<&S::instances>),
      setting("inter_op", AxisKind::numbers, apply_number<&S::inter_op>),
      setting("intra_op", AxisKind::numbers, apply_number<&S::intra_op>),
      setting("library_threads", AxisKind::numbers, apply_number<&S::library_threads>),
      setting("prefill_threads", AxisKind::numbers, apply_number<&S::prefill_threads>),
      setting("prefill_tokens", AxisKind::numbers, apply_number<&S::prefill_tokens>),
      setting("affinity", AxisKind::words, apply_enum<&S::affinity, Affinity>, names_of<Affinity>()),
      setting("memory_bind", AxisKind::words, apply_enum<&S::memory_bind, MemoryBind>, names_of<MemoryBind>()),
      setting("allocator", AxisKind::words, apply_enum<&S::allocator, Allocator>, names_of<Allocator>()),
      setting("spin", AxisKind::flag, [](Trial& t, auto&, auto& v) { t.settings.spin = std::get<bool>(v); }),
      setting("compile", AxisKind::words, apply_text<&S::compile>),
      setting("layout", AxisKind::words, apply_text<&S::layout>),
      setting("loaders", AxisKind::numbers, apply_number<&S::loaders>),
      setting("prefetch", AxisKind::numbers, apply_number<&S::prefetch>),
      setting("page_cache", AxisKind::words, apply_enum<&S::page_cache, PageCache>, names_of<PageCache>()),
      setting("bucket_bytes", AxisKind::sizes, apply_number<&S::bucket_bytes>),
      setting("env.", AxisKind::verbatim, [](Trial& t, auto& m, auto& v) { t.settings.env[m] = text_of(v); }),
  };
}

std::vector<Axis> placement_axes() {
  return {
      {"placement.device",
       AxisKind::words,
       false,
       {},
       [](Trial& t, auto&, auto& v) { t.placement.device = text_of(v); }},
      {"placement.ranks",
       AxisKind::numbers,
       false,
       {},
       [](Trial& t, auto&, auto& v) { t.placement.ranks = number_of(v); }},
      {"placement.ranks_per_node",
       AxisKind::numbers,
       true,
       {},
       [](Trial& t, auto&, auto& v) { t.placement.ranks_per_node = number_of(v); }},
  };
}

}  // namespace

const std::vector<Axis>& axes() {
  static const std::vector<Axis> all = [] {
    std::vector<Axis> out;
    for (auto* part : {workload_axes, setting_axes, placement_axes}) {
      for (auto& axis : part()) out.push_back(std::move(axis));
    }
    return out;
  }();
  return all;
}

}  // namespace assay::plan
