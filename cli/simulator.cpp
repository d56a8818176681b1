#include "cli/simulator.hpp"

#include <filesystem>

#include "cli/libexec.hpp"
#include "cli/paths.hpp"

namespace assay::cli {

namespace {

std::string asked_simulator(const json& request) {
  const auto program = libexec_folder() / "assay-simulate";
  if (!std::filesystem::exists(program)) {
    fail(ErrorKind::failure,
         "{} is not there: this Assay was built without SimGrid. Install libsimgrid-dev 3.32 and build again, or "
         "predict "
         "by formula.",
         program.string());
  }
  return ask_libexec("assay-simulate", request.dump(), false);
}

}  // namespace

predict::SimulationAnswer simulate_iteration(const predict::SimulationRequest& request) {
  predict::check_simulation(request);
  return predict::parse_simulation_answer(asked_simulator(to_json(request)));
}

predict::GraphAnswer simulate_step(const predict::GraphRequest& request) {
  predict::check_graph(request);
  return predict::parse_graph_answer(asked_simulator(to_json(request)));
}

}  // namespace assay::cli
