#pragma once

#include <string>

#include "assay/plan/catalog/catalog.hpp"

namespace assay::plan {

/// A worker for tests that takes the network toy and one setting of its own.
inline WorkerInfo fake_worker(const std::string& release = "1.0.0") {
  WorkerInfo worker;
  worker.name = "fake";
  worker.release = release;
  worker.argv = {"{folder}/assay-worker-fake"};
  worker.networks = {"toy"};
  worker.modes = {"infer", "train"};
  worker.precisions = {"fp32"};
  worker.devices = {"cpu"};
  worker.details = {"step", "phases"};
  worker.settings = {"intra_op", "bucket_bytes"};
  worker.inert = {{"spin", "there are no threads"}};
  return worker;
}

inline WorkerInfo command_worker() {
  WorkerInfo worker;
  worker.name = "command";
  worker.release = "1.0.0";
  worker.argv = {"{folder}/assay-worker-command"};
  worker.networks = {"*"};
  return worker;
}

inline Catalog test_catalog() {
  return Catalog({fake_worker("1.0.0"), fake_worker("1.10.0"), fake_worker("1.9.0"), command_worker()});
}

}  // namespace assay::plan
