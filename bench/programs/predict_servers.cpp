// predict_servers SMALL.csv LARGE.csv: calibrates on rows of parameter servers and predicts others, which it sees for
// their score alone; one line of JSON for each row, and one for the constants. Run by bench/predict_servers.
#include <cstdio>

#include "bench/programs/published.hpp"

namespace assay::bench {
namespace {

void say(const std::vector<PublishedStep>& rows, const predict::CalibratedCluster& cluster, bool calibrated) {
  for (const auto& row : rows) {
    if (row.step.devices == 1) continue;
    const json line{{"network", row.network},
                    {"interconnect", row.step.link.substr(0, row.step.link.find('/', row.step.link.find('/') + 1))},
                    {"method", row.method},
                    {"devices", row.step.devices},
                    {"calibrated", calibrated},
                    {"published", row.samples_per_second},
                    {"predicted", row.batch / predict::step_seconds(row.step, cluster)}};
    std::printf("%s\n", line.dump().c_str());
  }
}

void run(const std::string& small_path, const std::string& large_path) {
  const auto small_frame = model::read_csv(small_path);
  const auto small = published_server_steps(small_frame, small_frame);
  std::vector<predict::MeasuredStep> steps;
  for (const auto& row : small) steps.push_back(row.step);
  const auto cluster = predict::calibrate(steps);
  std::printf("%s\n", json{{"constants", to_json(cluster)}}.dump().c_str());
  say(small, cluster, true);
  say(published_server_steps(model::read_csv(large_path), small_frame), cluster, false);
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    assay::bench::run(argv[1], argv[2]);
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "predict_servers: %s\n", error.what());
    return error.exit_code();
  }
}
