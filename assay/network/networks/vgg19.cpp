#include "assay/network/networks/networks.hpp"
#include "assay/network/networks/vgg.hpp"

namespace assay::network::networks {

Graph vgg19(OptionReader& options) {
  return vgg("vgg19", {2, 2, 4, 4, 4}, options);
}

}  // namespace assay::network::networks
