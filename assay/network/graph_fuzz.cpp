#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/network/cost.hpp"
#include "assay/network/graph.hpp"

/// Any bytes either read as a graph that travels unchanged and has a cost, or raise Error{bad_input}.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  try {
    const auto graph = network::read_graph(parse_json({reinterpret_cast<const char*>(data), size}));
    const json wire = network::to_wire(graph);
    ASSAY_CHECK(network::to_wire(network::read_graph(wire)) == wire);
    ASSAY_CHECK(network::cost_of(graph).total.parameters == graph.parameters);
    ASSAY_CHECK(network::graph_hash(graph).size() == 32);
  } catch (const Error& error) {
    ASSAY_CHECK(error.kind() == ErrorKind::bad_input);
  }
  return 0;
}
