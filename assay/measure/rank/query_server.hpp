#pragma once

#include <functional>
#include <memory>

#include "assay/load/queries/queries.hpp"
#include "assay/measure/rank/message.hpp"

namespace assay::measure {

/// How a worker is asked for steps, and what goes on between them.
struct AskedWorker {
  std::function<Measured()> step;  ///< one
  std::function<void()> attend;    ///< called while nothing is asked of it
};

/// A worker whose steps are stamped by the clock of this host: queries wait by that clock, which begins now. The way to
/// the worker is part of a step's wait, the way back is not.
std::unique_ptr<load::StepServer> clocked_server(AskedWorker worker);

/// A worker whose steps take no time: queries wait by a clock that its samples move on.
std::unique_ptr<load::StepServer> virtual_server(AskedWorker worker);

}  // namespace assay::measure
