#include "assay/network/networks/bert.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {

/// Two of its 514 rows of positions belong to padding, so that sequences reach 512.
Graph roberta(OptionReader& options) {
  return bert({"roberta", 50265, 514, 512, 1, 12, 768, 1e-5}, options);
}

}  // namespace assay::network::networks
