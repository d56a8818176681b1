#include "cli/simulator.hpp"

#include <filesystem>

#include "cli/libexec.hpp"
#include "cli/paths.hpp"

namespace assay::cli {

predict::SimulationAnswer simulate_iteration(const predict::SimulationRequest& request) {
  predict::check_simulation(request);
  const auto program = libexec_folder() / "assay-simulate";
  if (!std::filesystem::exists(program)) {
    fail(ErrorKind::failure,
         "{} is not there: this Assay was built without SimGrid. Install libsimgrid-dev 3.32 and build again, or "
         "predict "
         "by formula.",
         program.string());
  }
  return predict::parse_simulation_answer(ask_libexec("assay-simulate", to_json(request).dump(), false));
}

}  // namespace assay::cli
