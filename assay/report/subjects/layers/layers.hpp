#pragma once

#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/report/document.hpp"

namespace assay::report {

/// Time of one layer over the runs of a trial.
struct NodeTime {
  std::string node;
  double forward_ns = 0;   ///< median over processes of each process's median
  double backward_ns = 0;  ///< 0 when inferring
};

/// Gathers layers record by record, so that no more than one is held.
class LayerTimes {
 public:
  void add(const Record& record);

  /// In the order of the network; empty where no run timed layers.
  std::vector<NodeTime> times() const;

 private:
  struct Medians {
    std::string node;
    std::vector<double> forward_ns;
    std::vector<double> backward_ns;
  };
  std::vector<Medians> layers_;
};

/// The slowest `most` layers and what the others take together, for a person; FLOP/s where the workload's graph tells
/// them.
Document layers_document(const Workload& workload, const std::vector<NodeTime>& layers, std::size_t most);

}  // namespace assay::report
