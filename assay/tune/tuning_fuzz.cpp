#include <cstddef>
#include <cstdint>

#include "assay/tune/apply/emit.hpp"

/// Any bytes either read as a tuning that writes and reads back the same, can be planned and can be emitted in every
/// format, or raise Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  try {
    const auto tuning = tune::parse_tuning({reinterpret_cast<const char*>(data), size}, "fuzz");
    const json again = to_json(tune::parse_tuning(to_json(tuning).dump(), "fuzz"));
    ASSAY_CHECK(again == to_json(tuning));
    tune::Host host;
    host.cpus = {0, 1, 2, 3};
    host.topology = [] { return platform::topology_from_synthetic("pack:1 core:4 pu:1"); };
    host.find_allocator = [](Allocator) { return std::nullopt; };
    for (std::size_t format = 0; format < EnumNames<tune::EmitFormat>::names.size(); ++format) {
      try {
        tune::emit(static_cast<tune::EmitFormat>(format), tuning, host);
      } catch (const Error&) {  // a format may have no place for it
      }
    }
    tune::title(plan_launch(tuning, host, {.program = {}, .rescale = true, .inject = "/hooks"}), tuning);
  } catch (const Error&) {
  }
  return 0;
}
