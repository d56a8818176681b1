#pragma once

#include <map>
#include <string>

#include <openvino/openvino.hpp>

#include "workers/common/worker.hpp"

namespace assay::openvino {

/// Throws Refused by name for what this worker never does: training, another device or precision, settings without
/// effect.
void refuse_what_there_is_not(const worker::Prepare& prepare);

/// What a network is compiled with.
ov::AnyMap properties_of(const worker::Prepare& prepare);

/// Settings as OpenVINO says they took effect. Refuses where the precision is another one than asked for.
json read_back(const ov::CompiledModel& compiled, const worker::Prepare& prepare);

std::map<std::string, std::string> versions();

bool is_out_of_memory(const std::string& message);

}  // namespace assay::openvino
