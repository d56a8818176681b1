#include "assay/network/networks/networks.hpp"
#include "assay/network/networks/recurrent.hpp"

namespace assay::network::networks {

Graph gru(OptionReader& options) {
  return recurrent_language_model("gru", Op::gru, options);
}

}  // namespace assay::network::networks
