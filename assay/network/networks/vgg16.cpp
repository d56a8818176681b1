#include "assay/network/networks/networks.hpp"
#include "assay/network/networks/vgg.hpp"

namespace assay::network::networks {

Graph vgg16(OptionReader& options) {
  return vgg("vgg16", {2, 2, 3, 3, 3}, options);
}

}  // namespace assay::network::networks
