#pragma once

#include <memory>
#include <string>

#include "workers/common/worker.hpp"

/// Each module defines it. The caller owns what it returns.
extern "C" assay::worker::Framework* assay_make_framework();

namespace assay::worker {

/// A framework in a module beside the worker's program. Libraries read their variables when they are loaded, so the
/// module is loaded once the settings are known; the program itself links none of them.
class ModuleFramework : public Framework {
 public:
  /// `file`: as in "assay-onednn.so"; a path that is absolute stands for itself.
  explicit ModuleFramework(std::string file) : file_(std::move(file)) {}

  Prepared prepare(const Prepare& prepare) final;
  void step(Step& step) final { framework_->step(step); }
  void step_with_phases(Step& step) final { framework_->step_with_phases(step); }
  void step_with_layers(Step& step) final { framework_->step_with_layers(step); }
  void barrier() final { framework_->barrier(); }
  Evaluated evaluate(const Evaluate& evaluate) final { return framework_->evaluate(evaluate); }
  Scored score() final { return framework_->score(); }
  void write_output(const std::string& path) final { framework_->write_output(path); }

 protected:
  /// Refuses settings that the framework has not, and sets its variables.
  virtual void before_loading(const Prepare& prepare) = 0;

 private:
  std::string file_;
  std::unique_ptr<Framework> framework_;
};

}  // namespace assay::worker
