#pragma once

#include "assay/network/options.hpp"

namespace assay::network::networks {

/// A language model of recurrent layers over words, sized as the medium one of Zaremba, Sutskever and Vinyals (2014).
/// `cell`: Op::lstm or Op::gru. Options may change its sequence, layers, features, tokens and dropout.
Graph recurrent_language_model(const std::string& name, Op cell, OptionReader& options);

}  // namespace assay::network::networks
