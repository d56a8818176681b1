#include "workers/libtorch/settings.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <regex>

#include "assay/core/text/hash.hpp"
#include "assay/core/workloads/learning.hpp"
#include "workers/common/options.hpp"

namespace assay::libtorch {
namespace {

std::optional<std::string> found_in(const std::string& text, const char* pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern))) return {};
  return match[1].str();
}

}  // namespace

void refuse_what_there_is_not(const worker::Prepare& prepare) {
  const auto& workload = prepare.workload;
  if (workload.data != "memory" && workload.data != kDigits) {
    worker::refuse("data {}: this worker has only memory and digits.", shown(workload.data));
  }
  if (workload.data == kDigits && prepare.graph.is_null()) {
    worker::refuse("data 'digits' for {}: networks of Assay's are trained on it.", shown(workload.network));
  }
  if (prepare.ranks > 1) worker::refuse("{} ranks: this worker exchanges nothing. Use instances.", prepare.ranks);
  if (prepare.placement.device != "cpu") {
    worker::refuse("device {} is unknown here. There is cpu.", shown(prepare.placement.device));
  }
  if (form_of(prepare).precision == at::kFloat) worker::refuse_lowered_fp32();
  if (!prepare.graph.is_null() || prepare.file) return;
  worker::Options(workload.options).refuse_rest();
  worker::refuse("network {} came without a graph or a file.", shown(workload.network));
}

void apply_settings(const worker::Prepare& prepare) {
  // No TF32 or bf16 inside fp32.
  at::globalContext().setFloat32Precision(at::Float32Backend::GENERIC, at::Float32Op::ALL, at::Float32Precision::IEEE);
  if (prepare.settings.intra_op) at::set_num_threads(static_cast<int>(*prepare.settings.intra_op));
  if (prepare.settings.inter_op) at::set_num_interop_threads(static_cast<int>(*prepare.settings.inter_op));
  // What is random in a step, as dropout is.
  const auto seed = hash_int(fmt::format("{} {} {} steps", prepare.seed, prepare.rank, prepare.instance));
  at::manual_seed(static_cast<std::uint64_t>(seed));
}

json read_back(const worker::Prepare& prepare, const Tensors& inputs) {
  json effective = json::object();
  effective["intra_op"] = at::get_num_threads();
  effective["inter_op"] = at::get_num_interop_threads();
  const auto openmp = found_in(at::get_parallel_info(), R"(omp_get_max_threads\(\) : (\d+))");
  if (openmp) effective["library_threads"] = std::stoll(*openmp);
  const std::string layout = layout_of(inputs);
  if (!layout.empty()) effective["layout"] = layout;
  if (layout.empty() && prepare.settings.layout) {
    worker::refuse("layout {}: no input is an image. Leave it unset.", shown(*prepare.settings.layout));
  }
  return effective;
}

std::map<std::string, std::string> versions() {
  std::map<std::string, std::string> found{{"torch", TORCH_VERSION}};
  const std::string config = at::show_config();
  const std::map<std::string, const char*> patterns{
      {"mkl", R"(Math Kernel Library Version (\S+?)-)"},
      {"onednn", R"(MKL-DNN v(\S+))"},
      {"openmp", R"(a\.k\.a\. OpenMP (\S+)\))"},
  };
  for (const auto& [name, pattern] : patterns) {
    if (const auto release = found_in(config, pattern)) found[name] = *release;
  }
  return found;
}

}  // namespace assay::libtorch
