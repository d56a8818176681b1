#include "workers/common/options.hpp"

#include <algorithm>
#include <cstdlib>

#include "workers/common/worker.hpp"

namespace assay::worker {

std::string scalar_text(const Scalar& value) {
  return plain_text(mapping::scalar_to_json(value));
}

const Scalar* Options::take(const std::string& name) {
  known_.insert(name);
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

double Options::number(const std::string& name, double otherwise, double low, double high) {
  const Scalar* value = take(name);
  if (value == nullptr) return otherwise;
  double number = 0;
  if (const auto* real = std::get_if<double>(value)) {
    number = *real;
  } else if (const auto* whole = std::get_if<std::int64_t>(value)) {
    number = static_cast<double>(*whole);
  } else {
    refuse("option {}: {} is not a number.", name, shown(scalar_text(*value)));
  }
  if (!(number >= low && number <= high)) refuse("option {}: {} is outside {} to {}.", name, number, low, high);
  return number;
}

std::int64_t Options::integer(const std::string& name, std::int64_t otherwise, std::int64_t low, std::int64_t high) {
  const Scalar* value = take(name);
  if (value == nullptr) return otherwise;
  const auto* number = std::get_if<std::int64_t>(value);
  if (number == nullptr) refuse("option {}: {} is not an integer.", name, shown(scalar_text(*value)));
  if (*number < low || *number > high) refuse("option {}: {} is outside {} to {}.", name, *number, low, high);
  return *number;
}

std::string Options::text(const std::string& name, const std::string& otherwise) {
  const Scalar* value = take(name);
  if (value == nullptr) return otherwise;
  const auto* text = std::get_if<std::string>(value);
  if (text == nullptr) refuse("option {}: {} is not text.", name, scalar_text(*value));
  return *text;
}

std::string Options::choice(const std::string& name, const std::vector<std::string>& choices) {
  std::string value = text(name, choices.front());
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
  std::string all;
  for (const auto& choice : choices) all += (all.empty() ? "" : ", ") + choice;
  refuse("option {}: {} is not one of {}.", name, shown(value), all);
}

void Options::refuse_rest() const {
  for (const auto& [name, value] : values_) {
    if (known_.count(name) > 0) continue;
    std::string all;
    for (const auto& known : known_) all += (all.empty() ? "" : ", ") + known;
    refuse("option {} is unknown here. There is {}.", shown(name), all.empty() ? "none" : all);
  }
}

void refuse_settings_beyond(const Settings& settings, const std::set<std::string>& known) {
  static const std::set<std::string> launched{"instances", "affinity", "memory_bind", "allocator", "env"};
  const json given = to_json(settings);
  for (const auto& [name, value] : given.items()) {
    if (value.is_null() || known.count(name) > 0 || launched.count(name) > 0) continue;
    refuse("setting {} has no effect here; leave it unset.", name);
  }
}

void refuse_lowered_fp32() {
  for (const char* name : {"ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || std::string(value) == "STRICT") continue;
    refuse("variable {}={} computes fp32 in less. Leave it out, or ask for precision bf16.", name, value);
  }
}

}  // namespace assay::worker
