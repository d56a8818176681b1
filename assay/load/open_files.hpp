#pragma once

#include <cstddef>

namespace assay::load {

/// Raises the soft limit of open files as far as `wanted` connections need and the hard limit allows; returns how many
/// connections there can be.
std::size_t allow_connections(std::size_t wanted);

}  // namespace assay::load
