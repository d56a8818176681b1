#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/load/client/exchange.hpp"

/// The first byte says how the rest is cut; what is spoken is its lowest bits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay::load;
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] / 3;
  Exchange exchange(static_cast<Api>(data[0] % 3));
  Request request;
  exchange.begin(request);
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (!rest.empty()) {
    if (exchange.read(rest.substr(0, piece), 1)) return 0;
    rest.remove_prefix(std::min(piece, rest.size()));
  }
  exchange.end(false, 2);
  return 0;
}
