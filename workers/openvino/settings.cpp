#include "workers/openvino/settings.hpp"

#include "workers/common/options.hpp"

namespace assay::openvino {
namespace {

ov::element::Type precision_of(const worker::Prepare& prepare) {
  if (prepare.workload.precision == "fp32") return ov::element::f32;
  if (prepare.workload.precision == "bf16") return ov::element::bf16;
  worker::refuse("precision {} is unknown here. There is fp32 and bf16.", shown(prepare.workload.precision));
}

}  // namespace

void refuse_what_there_is_not(const worker::Prepare& prepare) {
  worker::refuse_settings_beyond(prepare.settings, {"intra_op", "inter_op"});
  const auto& workload = prepare.workload;
  if (workload.mode == Mode::train) worker::refuse("mode train: OpenVINO only infers. Use mode infer.");
  if (workload.data != "memory") worker::refuse("data {}: this worker has only memory.", shown(workload.data));
  if (prepare.ranks > 1) worker::refuse("{} ranks: this worker exchanges nothing. Use instances.", prepare.ranks);
  if (prepare.placement.device != "cpu") {
    worker::refuse("device {} is unknown here. There is cpu.", shown(prepare.placement.device));
  }
  if (precision_of(prepare) == ov::element::f32) worker::refuse_lowered_fp32();
  if (!prepare.graph.is_null()) return;
  worker::Options(workload.options).refuse_rest();
  if (!prepare.file) worker::refuse("network {} came without a graph or a file.", shown(workload.network));
}

ov::AnyMap properties_of(const worker::Prepare& prepare) {
  ov::AnyMap properties{ov::hint::inference_precision(precision_of(prepare)),
                        ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY)};
  if (prepare.settings.intra_op) {
    properties.insert(ov::inference_num_threads(static_cast<int>(*prepare.settings.intra_op)));
  }
  // By default OpenVINO pins its threads from the first CPU of its mask on: two processes would share that one.
  if (prepare.instances > 1 || prepare.settings.affinity) properties.insert(ov::hint::enable_cpu_pinning(false));
  return properties;
}

json read_back(const ov::CompiledModel& compiled, const worker::Prepare& prepare) {
  const auto precision = compiled.get_property(ov::hint::inference_precision);
  if (precision != precision_of(prepare)) {
    worker::refuse("precision {}: OpenVINO would compute in {} on this CPU.", prepare.workload.precision,
                   precision.get_type_name());
  }
  json effective = json::object();
  effective["intra_op"] = compiled.get_property(ov::inference_num_threads);
  effective["inter_op"] = static_cast<int>(compiled.get_property(ov::num_streams));
  return effective;
}

std::map<std::string, std::string> versions() {
  const std::string build = ov::get_openvino_version().buildNumber;  // 2026.4.1-22982-…
  return {{"openvino", build.substr(0, build.find('-'))}, {"openvino_build", build}};
}

bool is_out_of_memory(const std::string& message) {
  const auto says = [&](const char* part) { return message.find(part) != std::string::npos; };
  return says("bad_alloc") || says("could not allocate") || says("Failed to allocate") || says("out of memory");
}

}  // namespace assay::openvino
