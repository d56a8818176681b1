#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/model/tables/frame.hpp"

namespace assay::model {

/// The JSON that a run of the prototype (benchmarker) left: its name among others.
struct PrototypeFile {
  std::string name;
  std::string text;
};

/// Whether a text looks like such a file.
bool is_prototype(std::string_view text);

/// A row for each file: network, framework, release, mode, precision, device, gpus, batch (of all devices together) and
/// seconds of a batch. Only totals are in such files, so that there is one number for each and no interval. Where the
/// time of a batch is missing it is that of an epoch (time_epoch, or time in files before 2019) over its batches.
/// What a file does not tell is "unknown". Throws Error{bad_input} that names the file where it is no such JSON, or has
/// neither batch nor time.
Frame import_prototype(const std::vector<PrototypeFile>& files);

}  // namespace assay::model
