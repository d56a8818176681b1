// predict_inference [--priors] KERNELS (CALIBRATION.csv JUDGED.csv)…: laws of devices from the kernel tables in a
// folder; then for each pair constants of software stacks from the served points of one table, and every point of the
// other said; one line of JSON each. Run by bench/predict_inference.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "assay/predict/serving/stacks/stack_choice.hpp"

namespace assay::bench {
namespace {

/// Every device of the catalogue, by tables in the folder alone: not by the laws that the program knows, which count
/// only where the folder has no such table.
predict::DeviceTimes devices_from(const std::filesystem::path& folder) {
  std::vector<predict::KernelRow> rows;
  for (const char* name : {"gpu_gemm.csv", "gpu_attention.csv", "gpu_nccl.csv"}) {
    if (!std::filesystem::exists(folder / name)) continue;
    const auto more = predict::read_kernel_table(folder / name);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  if (rows.empty())
    std::printf("%s\n", json({{"laws", "of the program: the folder has no table of kernels"}}).dump().c_str());
  const auto fitted = rows.empty() ? predict::known_devices() : predict::fit_devices(rows);
  predict::DeviceTimes times;
  for (const auto& sheet : predict::all_device_sheets()) {
    predict::DeviceLaws device;
    device.sheet = sheet;
    for (const auto& one : fitted) {
      if (one.sheet.name == sheet.name) device = one;
    }
    times.emplace(sheet.name, predict::KernelTimes(completed(device, fitted)));
  }
  return times;
}

void refuse(const std::string& judged, const std::vector<predict::RefusedServingRow>& refused) {
  for (const auto& one : refused) {
    std::printf("%s\n", json({{"judged", judged}, {"refused", one.id}, {"why", one.why}}).dump().c_str());
  }
}

/// How far off each candidate for a prior is on the rows that calibrate, cross-validated. The program's own counts.
void show_priors(const std::vector<predict::ServingRow>& rows, const predict::DeviceTimes& times,
                 const std::string& judged) {
  for (const auto mode : {predict::ServingMode::closed_loop, predict::ServingMode::static_batch}) {
    for (const auto& one : choose_prior(rows, times, mode).scores) {
      auto line = to_json(one);
      line["judged"] = judged;
      line["chosen"] = one.prior == predict::chosen_prior(mode).name;
      std::printf("%s\n", line.dump().c_str());
    }
  }
}

void say(const predict::DeviceTimes& times, const std::string& calibration, const std::string& judged, bool priors) {
  const auto known = predict::read_serving_rows(calibration);
  const auto asked = predict::read_serving_rows(judged);
  refuse(judged, asked.refused);
  if (known.rows.empty()) fail(ErrorKind::bad_input, "no row calibrates: {}", known.refused.front().why);
  if (priors) show_priors(known.rows, times, judged);
  const predict::CalibratedStacks stacks(known.rows, times);
  std::printf("%s\n", json({{"stacks", to_json(stacks.stacks())}}).dump().c_str());
  for (const auto mode : {predict::ServingMode::closed_loop, predict::ServingMode::static_batch}) {
    if (known.rows.front().point.mode != mode) continue;
    std::printf("%s\n", json({{"judged", judged}, {"widening", to_json(stacks.widening(mode))}}).dump().c_str());
  }
  for (const auto& row : asked.rows) {
    const auto said = stacks.predict(row.stack, row.device, row.point);
    const auto roofline = roofline_times(row.point, times.at(row.device).sheet());
    const json line{{"judged", judged},
                    {"id", row.id},
                    {"stack", row.stack.text()},
                    {"calibrated", stacks.stacks().contains(row.stack.text())},
                    {"device", row.device},
                    {"new_device", std::none_of(known.rows.begin(), known.rows.end(),
                                                [&](const auto& one) { return one.device == row.device; })},
                    {"model", row.point.model.shape.name},
                    {"tensor", row.point.model.tensor},
                    {"prompt_tokens", row.point.prompt_tokens},
                    {"output_tokens", row.point.output_tokens},
                    {"concurrency", row.point.concurrency},
                    {"guessed", row.guessed},
                    {"rests_on", said.rests_on},
                    {"batch", said.times.batch},
                    {"measured", {{"ttft", to_json(row.first_token_seconds)}, {"tpot", to_json(row.token_seconds)}}},
                    {"ttft", to_json(said.first_token_seconds)},
                    {"tpot", to_json(said.token_seconds)},
                    {"throughput", to_json(said.tokens_per_second)},
                    {"roofline",
                     {{"ttft", roofline.first_token_seconds},
                      {"tpot", roofline.token_seconds},
                      {"throughput", roofline.tokens_per_second}}}};
    std::printf("%s\n", line.dump().c_str());
  }
}

/// A pair that cannot be judged is said, and the others are.
void say_or_fail(const predict::DeviceTimes& times, const std::string& calibration, const std::string& judged,
                 bool priors) {
  try {
    say(times, calibration, judged, priors);
  } catch (const Error& error) {
    std::printf("%s\n", json({{"judged", judged}, {"failed", error.what()}}).dump().c_str());
  }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const bool priors = argc > 1 && std::string_view(argv[1]) == "--priors";
  const int first = priors ? 2 : 1;
  if (argc < first + 3 || (argc - first) % 2 != 1) return 2;
  try {
    const auto times = assay::bench::devices_from(argv[first]);
    for (int i = first + 1; i < argc; i += 2) assay::bench::say_or_fail(times, argv[i], argv[i + 1], priors);
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "predict_inference: %s\n", error.what());
    return error.exit_code();
  }
}
