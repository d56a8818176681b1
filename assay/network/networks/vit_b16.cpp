#include "assay/network/networks/networks.hpp"
#include "assay/network/networks/vit.hpp"

namespace assay::network::networks {

Graph vit_b16(OptionReader& options) {
  return vit("vit_b16", 768, options);
}

}  // namespace assay::network::networks
