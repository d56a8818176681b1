#include "assay/network/networks/networks.hpp"
#include "assay/network/networks/recurrent.hpp"

namespace assay::network::networks {

Graph lstm(OptionReader& options) {
  return recurrent_language_model("lstm", Op::lstm, options);
}

}  // namespace assay::network::networks
