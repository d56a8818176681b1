// predict_published DDL.csv MEGATRON.csv: calibrates on the small rows of published tables and predicts the large ones,
// one line of JSON for each row and one for the constants. Run by bench/predict_published.
// predict_published DDL.csv --judge OTHER.csv: calibrates on every row of DDL.csv and predicts those of OTHER.csv. Run
// by bench/predict_llm.
#include <cstdio>
#include <limits>
#include <map>
#include <string_view>

#include "bench/programs/published.hpp"

namespace assay::bench {
namespace {

constexpr std::int64_t kMostCalibrated = 8;  // devices

void print(const json& line) {
  std::printf("%s\n", line.dump().c_str());
}

using Rows = std::vector<PublishedStep>;

predict::CalibratedCluster calibrate_on(const Rows& rows, std::int64_t most_devices) {
  std::vector<predict::MeasuredStep> steps;
  for (const auto& row : rows) {
    if (row.step.devices <= most_devices) steps.push_back(row.step);
  }
  const auto cluster = predict::calibrate(steps);
  print({{"constants", to_json(cluster)}});
  return cluster;
}

/// The same rows in a flat ring: every hop is over a link alike, and no link is slower than another.
Rows in_flat_ring(Rows rows) {
  for (auto& row : rows) {
    row.step.devices_per_node = 1;
    row.step.spread_seconds.reset();
  }
  return rows;
}

/// Another way to predict rows, beside ours.
struct Rival {
  const char* name;
  Rows rows;  ///< as it sees them, in the same order
  predict::CalibratedCluster cluster;
};

/// A flat ring with the same constants of networks, calibrated likewise: on the same rows, and on those alone that
/// cross nodes.
std::vector<Rival> flat_rings(const Rows& rows) {
  const auto flat = in_flat_ring(rows);
  Rows crossing;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].step.devices > rows[i].step.devices_per_node) crossing.push_back(flat[i]);
  }
  return {{"flat_ring", flat, calibrate_on(flat, kMostCalibrated)},
          {"flat_ring_of_8", flat, calibrate_on(crossing, kMostCalibrated)}};
}

void say_data_parallel(const Rows& rows, const predict::CalibratedCluster& cluster, std::int64_t most_calibrated,
                       const std::vector<Rival>& rivals = {}) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    if (row.step.devices == 1) continue;
    json others = json::object();
    for (const auto& rival : rivals) {
      others[rival.name] = row.batch / predict::step_seconds(rival.rows[i].step, rival.cluster);
    }
    print({{"table", "ddl_2020"},
           {"rivals", others},
           {"network", row.network},
           {"interconnect", row.step.link},
           {"method", row.method},
           {"devices", row.step.devices},
           {"messages", row.step.messages.size()},
           {"calibrated", row.step.devices <= most_calibrated},
           {"published", row.samples_per_second},
           {"predicted", row.batch / predict::step_seconds(row.step, cluster)}});
  }
}

void say_small_and_large(const std::string& path) {
  const auto frame = model::read_csv(path);
  const auto rows = published_steps(frame, frame);
  say_data_parallel(rows, calibrate_on(rows, kMostCalibrated), kMostCalibrated, flat_rings(rows));
}

void say_others(const std::string& path, const std::string& other) {
  const auto frame = model::read_csv(path);
  const auto cluster = calibrate_on(published_steps(frame, frame), std::numeric_limits<std::int64_t>::max());
  say_data_parallel(published_steps(model::read_csv(other), frame), cluster, 0);
}

/// An A100 of 80 GB with NVLink and a 200 Gb/s link of its own to other nodes, as the maker says.
predict::TransformerDevice a100() {
  return {312e12, 2039e9, 80e9, 300e9, 25e9, 1};
}

void say_transformers(const std::string& path) {
  std::map<predict::Recompute, double> shares;
  for (const auto& row : published_transformers(model::read_csv(path))) {
    auto device = a100();
    const bool calibrated = row.network == "megatron_22b";
    if (calibrated) {
      shares[row.plan.recompute] = transformer_step(row.shape, row.plan, device).seconds / row.seconds;
      print({{"share_of_peaks", shares[row.plan.recompute]}, {"recompute", name_of(row.plan.recompute)}});
    }
    device.share = shares.at(row.plan.recompute);
    const auto step = transformer_step(row.shape, row.plan, device);
    print({{"table", "megatron_2022"},
           {"network", row.network},
           {"method", name_of(row.plan.recompute)},
           {"devices", row.plan.devices()},
           {"calibrated", calibrated},
           {"published", row.seconds},
           {"predicted", step.seconds},
           {"memory_gb", 1e-9 * transformer_memory(row.shape, row.plan).total()},
           {"step", to_json(step)}});
  }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const bool others = argc == 4 && std::string_view(argv[2]) == "--judge";
  if (argc != 3 && !others) return 2;
  try {
    if (others) {
      assay::bench::say_others(argv[1], argv[3]);
    } else {
      assay::bench::say_small_and_large(argv[1]);
      assay::bench::say_transformers(argv[2]);
    }
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "predict_published: %s\n", error.what());
    return error.exit_code();
  }
}
