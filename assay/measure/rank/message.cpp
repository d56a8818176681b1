#include "assay/measure/rank/message.hpp"

#include <algorithm>
#include <array>

#include "assay/core/protocol.hpp"
#include "assay/measure/order.hpp"

namespace assay::measure {
namespace {

constexpr std::array<const char*, 6> kPhases{"load", "transfer", "forward", "backward", "communicate", "update"};
constexpr std::size_t kMostTokens = 100'000;  // of a step; check(Generation) asks for no more
constexpr std::size_t kMostLayers = 20'000;
constexpr std::size_t kMostEffectiveBytes = 64u << 10;
constexpr std::size_t kMostTextBytes = 4096;

std::string limited(std::string text) {
  if (text.size() > kMostTextBytes) text.resize(kMostTextBytes);
  return text;
}

/// A list of durations: integers from 0 to 2^53.
std::vector<std::int64_t> read_durations(const json& value, const std::string& name) {
  auto durations = from_json<std::vector<std::int64_t>>(value, name);
  for (const auto ns : durations) {
    if (ns < 0 || ns > (std::int64_t{1} << 53)) fail(ErrorKind::bad_input, "{}: a duration of {} ns", name, ns);
  }
  return durations;
}

const json& field(const json& message, const char* name) {
  const auto it = message.find(name);
  if (it == message.end()) mapping::missing_field(message_type(message), name);
  return *it;
}

void append(std::vector<std::int64_t>& all, const std::vector<std::int64_t>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void add_phases(const json& message, std::size_t count, Measured& measured) {
  const json& phases = field(message, "phases");
  if (!phases.is_object()) mapping::wrong_type("samples.phases", "an object", phases);
  for (const auto& [name, values] : phases.items()) {
    if (std::find(kPhases.begin(), kPhases.end(), name) == kPhases.end()) {
      fail(ErrorKind::bad_input, "samples.phases: {} is not a phase", shown(name));
    }
    const auto durations = read_durations(values, "samples.phases." + name);
    if (durations.size() != count) {
      fail(ErrorKind::bad_input, "samples.phases.{}: {} values for {} samples", name, durations.size(), count);
    }
    append(measured.phases_ns[name], durations);
  }
}

/// Every line has the same buckets, each with its own values.
void add_buckets(const json& message, std::size_t count, Measured& measured) {
  const auto it = message.find("buckets");
  if (it == message.end() || it->is_null()) return;
  const auto buckets = from_json<std::vector<Bucket>>(*it, "samples.buckets");
  if (buckets.size() > kMostLayers) fail(ErrorKind::bad_input, "more than {} buckets", kMostLayers);
  const bool first = measured.samples_ns.size() == count;
  if (first) measured.buckets.resize(buckets.size());
  if (measured.buckets.size() != buckets.size()) fail(ErrorKind::bad_input, "samples.buckets: their number changed");
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const auto& more = buckets[i];
    if (more.ns.size() != count || more.hidden_ns.size() != count) {
      fail(ErrorKind::bad_input, "samples.buckets[{}]: {} values for {} samples", i, more.ns.size(), count);
    }
    measured.buckets[i].bytes = more.bytes;
    append(measured.buckets[i].ns, more.ns);
    append(measured.buckets[i].hidden_ns, more.hidden_ns);
  }
}

/// Every step has as many tokens as every other. How many those must be is for the caller to say.
void add_tokens(const json& message, std::size_t count, Measured& measured) {
  const auto it = message.find("tokens");
  if (it == message.end() || it->is_null()) return;
  if (!it->is_array() || it->size() != count) fail(ErrorKind::bad_input, "samples.tokens: not a list for each sample");
  const std::size_t before = measured.samples_ns.size() - count;
  for (std::size_t i = 0; i < count; ++i) {
    const auto times = read_durations((*it)[i], "samples.tokens");
    if (times.empty() || times.size() > kMostTokens) {
      fail(ErrorKind::bad_input, "samples.tokens: {} in a step", times.size());
    }
    if (measured.tokens_ns.size() != (before + i) * times.size()) {
      fail(ErrorKind::bad_input, "samples.tokens: {} in one step and another number in others", times.size());
    }
    append(measured.tokens_ns, times);
  }
}

std::optional<std::int64_t> read_bytes(const json& message, const char* name) {
  const auto it = message.find(name);
  if (it == message.end() || it->is_null()) return std::nullopt;
  const auto bytes = from_json<std::int64_t>(*it, std::string("prepared.") + name);
  if (bytes < 0) fail(ErrorKind::bad_input, "prepared.{}: {}", name, bytes);
  return bytes;
}

void add_layers(const json& message, Measured& measured) {
  const json& layers = field(message, "layers");
  if (!layers.is_array()) mapping::wrong_type("layers.layers", "a list", layers);
  if (layers.size() + measured.layers.size() > kMostLayers) {
    fail(ErrorKind::bad_input, "more than {} layers", kMostLayers);
  }
  for (const auto& item : layers) {
    auto layer = from_json<Layer>(item, "layers");
    layer.node = limited(std::move(layer.node));
    const std::size_t steps = measured.samples_ns.size();
    if (layer.forward_ns.size() != steps || (!layer.backward_ns.empty() && layer.backward_ns.size() != steps)) {
      fail(ErrorKind::bad_input, "layer {}: {} forward and {} backward values for {} samples", shown(layer.node),
           layer.forward_ns.size(), layer.backward_ns.size(), steps);
    }
    measured.layers.push_back(std::move(layer));
  }
}

}  // namespace

json prepare_request(const Part& part, std::int64_t rank, std::int64_t instance,
                     const std::vector<std::string>& peers) {
  const Trial& trial = part.trial;
  return {{"type", "prepare"},
          {"protocol", kProtocolVersion},
          {"workload", to_json(trial.workload)},
          {"graph", part.graph},
          {"file", to_json(part.file)},
          {"values", to_json(part.values)},
          {"settings", to_json(trial.settings)},
          {"placement", to_json(trial.placement)},
          {"seed", part.seed},
          {"rank", rank},
          {"ranks", trial.placement.ranks},
          {"peers", peers},
          {"instance", instance},
          {"instances", trial.settings.instances.value_or(1)},
          {"cache", to_json(part.cache)},
          {"data_folder", to_json(part.data_folder)}};
}

json parse_message(std::string_view line) {
  json message = parse_json(line, {kMostLineBytes, 64, 1'000'000});
  if (!message.is_object()) fail(ErrorKind::bad_input, "a message must be an object");
  return message;
}

std::string message_type(const json& message) {
  const auto it = message.find("type");
  if (it == message.end() || !it->is_string()) fail(ErrorKind::bad_input, "a message without a type");
  return limited(it->get<std::string>());
}

Prepared read_prepared(const json& message) {
  const auto version = from_json<std::int64_t>(field(message, "protocol"), "prepared.protocol");
  if (version != kProtocolVersion) {
    fail(ErrorKind::bad_input, "the worker speaks protocol {}, this Assay speaks {}", version, kProtocolVersion);
  }
  Prepared prepared;
  prepared.versions = from_json<std::map<std::string, std::string>>(field(message, "versions"), "prepared.versions");
  if (const auto it = message.find("parameters"); it != message.end() && !it->is_null()) {
    prepared.parameters = from_json<std::int64_t>(*it, "prepared.parameters");
    if (*prepared.parameters < 0) fail(ErrorKind::bad_input, "prepared.parameters: {}", *prepared.parameters);
  }
  prepared.effective = field(message, "effective");
  if (!prepared.effective.is_object()) mapping::wrong_type("prepared.effective", "an object", prepared.effective);
  if (prepared.effective.dump().size() > kMostEffectiveBytes || prepared.versions.size() > 200) {
    fail(ErrorKind::bad_input, "prepared: more than {} bytes of effective settings or 200 versions",
         kMostEffectiveBytes);
  }
  prepared.weights_bytes = read_bytes(message, "weights_bytes");
  prepared.cache_bytes = read_bytes(message, "cache_bytes");
  for (auto& [name, release] : prepared.versions) release = limited(std::move(release));
  return prepared;
}

Evaluated read_evaluated(const json& message) {
  Evaluated evaluated;
  evaluated.losses = from_json<std::vector<double>>(field(message, "losses"), "evaluated.losses");
  evaluated.gradient_norms =
      from_json<std::map<std::string, double>>(field(message, "gradient_norms"), "evaluated.gradient_norms");
  return evaluated;
}

Scored read_scored(const json& message) {
  Scored scored;
  scored.correct = from_json<std::int64_t>(field(message, "correct"), "scored.correct");
  scored.of = from_json<std::int64_t>(field(message, "of"), "scored.of");
  if (scored.correct < 0 || scored.correct > scored.of) {
    fail(ErrorKind::bad_input, "scored: {} of {} samples are right", scored.correct, scored.of);
  }
  scored.losses = from_json<std::vector<double>>(field(message, "losses"), "scored.losses");
  return scored;
}

Reported read_error(const json& message) {
  Reported reported;
  const auto kind = from_json<std::string>(field(message, "kind"), "error.kind");
  if (kind == "refused") {
    reported.kind = OutcomeKind::refused;
  } else if (kind == "out_of_memory") {
    reported.kind = OutcomeKind::out_of_memory;
  } else if (kind != "failed") {
    fail(ErrorKind::bad_input, "error.kind: {} is not one of refused, out_of_memory, failed", shown(kind));
  }
  reported.message = limited(from_json<std::string>(field(message, "message"), "error.message"));
  return reported;
}

void add_samples(const json& message, const std::string& detail, std::int64_t max_samples, Measured& measured) {
  if (message_type(message) == "layers") {
    if (detail != "layers") fail(ErrorKind::bad_input, "layers were sent although not asked for");
    add_layers(message, measured);
    return;
  }
  const auto durations = read_durations(field(message, "ns"), "samples.ns");
  if (measured.samples_ns.size() + durations.size() > static_cast<std::size_t>(max_samples)) {
    fail(ErrorKind::bad_input, "more than the {} samples asked for", max_samples);
  }
  append(measured.samples_ns, durations);
  if (detail == "step") add_tokens(message, durations.size(), measured);
  if (detail == "phases") {
    add_phases(message, durations.size(), measured);
    add_buckets(message, durations.size(), measured);
  }
}

void finish(const json& message, const std::string& detail, Measured& measured) {
  const auto claimed = from_json<std::int64_t>(field(message, "samples"), "done.samples");
  const auto count = static_cast<std::int64_t>(measured.samples_ns.size());
  if (claimed != count) fail(ErrorKind::bad_input, "done.samples: {} claimed, {} received", claimed, count);
  if (count == 0) fail(ErrorKind::bad_input, "a measure without samples");
  measured.begin_ns = from_json<std::int64_t>(field(message, "begin_ns"), "done.begin_ns");
  measured.end_ns = from_json<std::int64_t>(field(message, "end_ns"), "done.end_ns");
  if (measured.begin_ns < 0 || measured.end_ns < measured.begin_ns) {
    fail(ErrorKind::bad_input, "done: begins at {} and ends at {}", measured.begin_ns, measured.end_ns);
  }
  for (const auto& [name, values] : measured.phases_ns) {
    if (values.size() != measured.samples_ns.size()) {
      fail(ErrorKind::bad_input, "phase {}: {} values for {} samples", name, values.size(), count);
    }
  }
  if (detail == "phases" && measured.phases_ns.empty())
    fail(ErrorKind::bad_input, "phases were asked for, none were sent");
  if (detail == "layers" && measured.layers.empty())
    fail(ErrorKind::bad_input, "layers were asked for, none were sent");
}

}  // namespace assay::measure
