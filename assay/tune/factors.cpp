#include <array>
#include <vector>

#include "assay/core/error.hpp"
#include "assay/tune/tuner.hpp"

namespace assay::tune {
namespace {

/// Settings that act on the same part of a framework.
struct Kind {
  const char* name;
  std::vector<const char*> settings;
};

const std::array<Kind, 5>& kinds() {
  static const std::array<Kind, 5> all{{{"scheduler pools", {"inter_op"}},
                                        {"operator threads", {"intra_op"}},
                                        {"prompts", {"prefill_threads", "prefill_tokens"}},
                                        {"library", {"library_threads", "spin", "allocator", "env"}},
                                        {"placement", {"instances", "affinity", "memory_bind"}}}};
  return all;
}

std::string value_text(const std::string& name, const json& value) {
  if (name == "env") {
    std::string text;
    for (const auto& [key, one] : value.items()) text += (text.empty() ? "" : " ") + key + "=" + one.get<std::string>();
    return text.empty() ? "no variables" : text;
  }
  if (value.is_null()) return name + " left alone";
  return name + "=" + plain_text(value);
}

}  // namespace

std::vector<FactorStep> steps_between(const Trial& from, const Trial& to, const Resources& resources) {
  std::vector<FactorStep> steps;
  json now = to_json(from.settings);
  const json best = to_json(to.settings);
  for (const auto& kind : kinds()) {
    std::string changed;
    for (const char* name : kind.settings) {
      if (now.at(name) == best.at(name)) continue;
      now[name] = best.at(name);
      changed += (changed.empty() ? "" : " ") + value_text(name, best.at(name));
    }
    if (changed.empty()) continue;
    Trial trial = from;
    from_json_value(now, "settings", trial.settings);
    trial.settings = canonical(trial.settings, resources);
    steps.push_back({kind.name, changed, trial});
  }
  if (steps.empty() || trial_id(steps.back().trial) != trial_id(to)) {
    if (trial_id(from) == trial_id(to)) return {};
    steps.push_back({"computation", title(to.workload), to});
  }
  return steps;
}

}  // namespace assay::tune
