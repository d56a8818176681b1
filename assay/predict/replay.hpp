#pragma once

#include "assay/core/replay.hpp"
#include "assay/predict/iteration.hpp"

namespace assay::predict {

/// The step of iterate() for workers that replay it: the same gradients in the same buckets, each ready when it is
/// there. Bytes of a bucket are rounded to whole numbers. Input is left out. Throws Error{usage} for ZeRO, which
/// exchanges otherwise.
Replay replay_of(const LayerTable& table, const Cluster& cluster, const Practice& practice);

}  // namespace assay::predict
