#include "assay/network/networks/bert.hpp"
#include "assay/network/networks/networks.hpp"

namespace assay::network::networks {

Graph bert_base(OptionReader& options) {
  return bert({"bert_base", 30522, 512, 512, 2, 12, 768, 1e-12}, options);
}

}  // namespace assay::network::networks
