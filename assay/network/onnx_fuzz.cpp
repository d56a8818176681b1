#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/network/onnx.hpp"

/// Any bytes either are an ONNX model, whose graph if it has one is a whole one, or raise Error{bad_input}.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  try {
    const auto summary = network::summarize_onnx({reinterpret_cast<const char*>(data), size});
    ASSAY_CHECK(summary.parameters >= 0 && summary.width.depth <= summary.width.heavy);
    ASSAY_CHECK(!summary.flops || *summary.flops >= 0);
    ASSAY_CHECK(summary.graph.has_value() == summary.why_no_graph.empty());
    if (summary.graph) {
      const json wire = network::to_wire(*summary.graph);
      ASSAY_CHECK(network::to_wire(network::read_graph(wire)) == wire);
    }
  } catch (const Error& error) {
    ASSAY_CHECK(error.kind() == ErrorKind::bad_input);
  }
  return 0;
}
