#include <cstddef>
#include <cstdint>
#include <string>

#include "assay/core/error.hpp"
#include "assay/platform/cgroup.hpp"
#include "assay/platform/machine/cpuinfo.hpp"
#include "assay/platform/machine/placement.hpp"
#include "assay/platform/machine/topology.hpp"

// A description of a machine, whatever it holds, is read or an Error, and what was read can be worked with.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::platform;
  const std::string text(reinterpret_cast<const char*>(data), size);
  parse_cpu_list(text);
  parse_cpuinfo(text);
  try {
    const auto topology = topology_from_xml_text(text, "fuzzed");
    shape(topology);
    shape(restricted_to(topology, {0, 3}));
    cpus_of_instance(topology, assay::Affinity::compact, 1, 3);
    cpus_of_instance(topology, assay::Affinity::spread, 1, 3);
  } catch (const assay::Error&) {
  }
  return 0;
}
