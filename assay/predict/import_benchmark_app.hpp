#pragma once

#include <string>
#include <string_view>

#include "assay/predict/layers.hpp"

namespace assay::predict {

/// A layer table from what OpenVINO's benchmark_app writes with -report_type average_counters or detailed_counters, as
/// CSV or (-json_stats) JSON. A layer is a node that was executed, with its real time; of several requests the one of
/// median length is taken. Times are forward times: there are no gradients in it.
///
/// Throws Error{bad_input} for what is no such report, is a summary without layers, or sorted and so without order.
LayerTable import_benchmark_app(std::string_view text, const std::string& name, std::int64_t batch);

}  // namespace assay::predict
