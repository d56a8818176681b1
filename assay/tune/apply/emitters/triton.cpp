#include <algorithm>
#include <map>

#include "assay/tune/apply/emitters/emission.hpp"

namespace assay::tune {
namespace {

struct Parameter {
  const char* setting;
  const char* name;
  const char* value = nullptr;  ///< null: that of the setting
  bool several_only = false;    ///< left out where the setting is 1
};

/// What the backends call settings in their parameters; a backend has the name of our worker.
const std::map<std::string, std::vector<Parameter>>& backends() {
  static const std::map<std::string, std::vector<Parameter>> all{
      {"onnxruntime",
       {{"intra_op", "intra_op_thread_count"},
        {"inter_op", "inter_op_thread_count", nullptr, true},
        {"inter_op", "execution_mode", "1", true}}},
      {"openvino", {{"intra_op", "INFERENCE_NUM_THREADS"}}},
      {"pytorch", {{"intra_op", "INTRA_OP_THREAD_COUNT"}, {"inter_op", "INTER_OP_THREAD_COUNT"}}},
      {"tensorflow",
       {{"intra_op", "TF_NUM_INTRA_THREADS"},
        {"inter_op", "TF_NUM_INTER_THREADS"},
        {"intra_op", "TF_USE_PER_SESSION_THREADS", "1"}}},
  };
  return all;
}

/// Without the lines of code for what a parameter says.
Emission without_code_of(const std::vector<Parameter>& parameters, Emission emission) {
  std::erase_if(emission.told.code, [&](const CodeLine& line) {
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const Parameter& parameter) { return line.setting == parameter.setting; });
  });
  return emission;
}

}  // namespace

std::string emit_triton(const Emission& emission) {
  const auto& worker = emission.tuning.worker.name;
  const auto found = backends().find(worker);
  if (found == backends().end()) {
    fail(ErrorKind::usage, "--emit triton: Triton has no backend for {}. Try --emit sh.", shown(worker));
  }
  const auto& settings = emission.tuning.settings;
  std::string text = "# Part of config.pbtxt.\n";
  text += comments(without_code_of(found->second, emission), {"affinity", "memory_bind", "allocator", "spin"});
  text += fmt::format("backend: \"{}\"\n", worker);
  text += fmt::format("instance_group [ {{ count: {} kind: KIND_CPU }} ]\n", emission.instances);
  if (const auto queue = queue_of(emission.tuning)) {
    text += fmt::format("max_batch_size: {}\n", queue->batch);
    text += fmt::format("dynamic_batching {{ max_queue_delay_microseconds: {:.0f} }}\n", queue->batch_wait_us);
  }
  for (const auto& parameter : found->second) {
    const auto value = value_of(settings, parameter.setting);
    if (value.empty() || (parameter.several_only && value == "1")) continue;
    text += fmt::format("parameters {{ key: \"{}\" value: {{ string_value: \"{}\" }} }}\n", parameter.name,
                        parameter.value == nullptr ? value : parameter.value);
  }
  return text;
}

}  // namespace assay::tune
