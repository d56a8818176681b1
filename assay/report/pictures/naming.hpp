#pragma once

#include <string>
#include <vector>

#include "assay/report/results/evidence.hpp"

namespace assay::report {

/// Something to name: what of, and on which machine.
struct Named {
  const Trial* trial = nullptr;
  std::string platform;
};

/// A short name for each: only what tells them apart. Where nothing does, the network and the worker.
std::vector<std::string> distinct_names(const std::vector<Named>& all);

/// What all of them have in common, in words; empty where nothing is.
std::string common_name(const std::vector<Named>& all);

/// The trial with these fields of the workload and the settings as by default, and the platform: equal for those that
/// differ in nothing else.
std::string key_without(const Trial& trial, const std::string& platform, const std::vector<const char*>& fields);

/// Whether a workload is there to measure the machine itself.
bool is_roof(const Workload& workload);

/// Results that gave a number, roofs apart, the newest of each trial and platform; in the order of their first.
std::vector<const Result*> good_results(const Evidence& evidence);

/// A cell of a heat map of times: as dark as it is near the best, white from twice its time on.
Mark ratio_cell(double ratio);

/// At most `most` of `count` indexes, evenly spread, the first and the last among them.
std::vector<std::size_t> spread(std::size_t count, std::size_t most);

/// "assay show …", with --store where it is not the usual one.
std::string command_of(const std::string& command, const Evidence& evidence);

}  // namespace assay::report
