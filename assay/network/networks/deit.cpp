#include "assay/network/networks/networks.hpp"
#include "assay/network/networks/vit.hpp"

namespace assay::network::networks {

/// Without distillation token. The tiny one has 192 features, the base one is that of vit_b16.
Graph deit(OptionReader& options) {
  return vit("deit", 384, options);
}

}  // namespace assay::network::networks
