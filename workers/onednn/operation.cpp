#include "workers/onednn/operation.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "workers/common/worker.hpp"
#include "workers/onednn/call.hpp"

namespace assay::onednn {
namespace {

struct Entry {
  std::unique_ptr<Operation> (*make)(Workshop&);
  std::set<std::string> precisions;
};

const std::map<std::string, Entry>& table() {
  static const std::map<std::string, Entry> entries{{"gemm", {make_gemm, {"fp32", "bf16", "int8"}}},
                                                    {"batched_gemm", {make_batched_gemm, {"fp32", "bf16", "int8"}}},
                                                    {"conv1d", {make_convolution, {"fp32", "bf16", "int8"}}},
                                                    {"conv2d", {make_convolution, {"fp32", "bf16", "int8"}}},
                                                    {"conv3d", {make_convolution, {"fp32", "bf16", "int8"}}},
                                                    {"rnn", {make_rnn, {"fp32", "bf16"}}},
                                                    {"layer_norm", {make_layer_norm, {"fp32", "bf16"}}},
                                                    {"copy", {make_copy, {"fp32"}}},
                                                    {"triad", {make_triad, {"fp32"}}}};
  return entries;
}

template <typename Names>
std::string listed(const Names& names) {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

const Entry& entry_of(const Workload& workload) {
  const auto found = table().find(workload.network);
  if (found == table().end()) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : table()) names.push_back(name);
    worker::refuse("network {}: there is only {} here.", shown(workload.network), listed(names));
  }
  if (found->second.precisions.count(workload.precision) == 0) {
    worker::refuse("precision {}: {} has only {} here.", shown(workload.precision), workload.network,
                   listed(found->second.precisions));
  }
  return found->second;
}

PrimitiveOptions options_of(const Workload& workload) {
  try {
    return primitive_options(*find_primitive(workload.network), workload);
  } catch (const Error& error) {
    throw worker::Refused(error.what());
  }
}

}  // namespace

std::unique_ptr<Operation> make_operation(const Workload& workload, const Source& source) {
  const Entry& entry = entry_of(workload);
  const auto options = options_of(workload);
  if (workload.precision == "int8" && options.choices.count("pass") > 0 && options.choices.at("pass") != "forward")
    worker::refuse("precision int8 with pass {}: only forward has it.", options.choices.at("pass"));
  try {
    Workshop workshop(workload, options, source);
    return entry.make(workshop);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    if (error.status != dnnl_unimplemented) throw;
    worker::refuse("precision {}: oneDNN {} has no {} of it on this CPU.", workload.precision, library_release(),
                   title(workload));
  }
}

std::string library_release() {
  const auto* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace assay::onednn
