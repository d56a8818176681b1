#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/plan/spec.hpp"

namespace {

/// One worker that takes everything, and the one that runs commands, so that all of the reader is reached.
assay::plan::Catalog open_catalog() {
  std::vector<assay::plan::WorkerInfo> workers(2);
  workers[0].name = "fake";
  workers[1].name = "command";
  for (auto& worker : workers) {
    worker.release = "1.0.0";
    worker.argv = {"worker"};
    worker.networks = worker.details = worker.settings = {"*"};
  }
  return assay::plan::Catalog(workers);
}

}  // namespace

/// Any bytes either read as a campaign whose trials can be written as JSON and hashed, or raise Error{usage}.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  static const plan::Catalog catalog = open_catalog();
  // Small limits keep an input quick; what is after them is more of the same.
  static constexpr plan::SweepLimits kLimits{.trials = 200, .runs = 1'000'000, .text_bytes = 1 << 20};
  try {
    const auto campaign = plan::read_spec({reinterpret_cast<const char*>(data), size}, "fuzz.yaml", catalog, kLimits);
    ASSAY_CHECK(!campaign.trials.empty() && campaign.trials.size() <= 200);
    ASSAY_CHECK(plan::campaign_id(campaign, 0).size() == 32);
    for (const auto& trial : campaign.trials) {
      check(trial);
      const json written = to_json(trial);
      ASSAY_CHECK(to_json(from_json<Trial>(parse_json(written.dump()))) == written);
    }
  } catch (const Error& error) {
    ASSAY_CHECK(error.kind() == ErrorKind::usage);
    ASSAY_CHECK(std::string_view(error.what()).starts_with("fuzz.yaml:"));
  }
  return 0;
}
