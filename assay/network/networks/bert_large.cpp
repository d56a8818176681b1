#include "assay/network/networks/bert.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {

Graph bert_large(OptionReader& options) {
  return bert({"bert_large", 30522, 512, 512, 2, 24, 1024, 1e-12}, options);
}

}  // namespace assay::network::networks
