#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "assay/predict/simulation/simulate.hpp"
#include "assay/predict/simulation/simulate_graph.hpp"

// assay-simulate: reads a SimulationRequest or a GraphRequest as JSON from stdin, writes the answer as JSON to stdout.
// A program of its own, because SimGrid has one engine in a process, ends the process where it fails, and takes longer
// to load than `assay` takes to start.

namespace assay::predict {
namespace {

int run_simulation() {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  const auto answer =
      is_graph_request(text) ? to_json(simulate_graph(parse_graph(text))) : to_json(simulate(parse_simulation(text)));
  const auto out = answer.dump() + "\n";
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::predict

int main() {
  try {
    return assay::predict::run_simulation();
  } catch (const assay::Error& error) {
    std::fprintf(stderr, "assay: %s\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-simulate: internal error: %s. Please report this.\n", error.what());
    return 1;
  }
}
