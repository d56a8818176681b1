#pragma once

#include "assay/model/fitting/family.hpp"

namespace assay::model {

/// A family whose laws tell the levels of a factor of text apart: some constants each level has for itself, and the
/// others levels share. Which, is chosen by cross-validation: beginning with all of them apart, the one whose joining
/// harms points held out least is joined, while no harm is proved. Apart constants are held near their mean by the
/// penalty of the fit, in the last refit too.
class ByLevel : public Family {
 public:
  ByLevel(const Family& family, const Factor& by, double penalty);

  const char* name() const override { return family_.name(); }
  const char* formula() const override { return family_.formula(); }
  bool knows_names() const override { return family_.knows_names(); }
  std::optional<std::string> refusal(const Table& table) const override;
  Law fit(const Table& table, const Effort& effort) const override;
  Law refit(const Law& law, const Table& table) const override;
  std::vector<FittedConstant> constants(const Law& law) const override;

 private:
  std::vector<Table> by_level(const Table& table) const;
  Law joined(const Law& form, const std::vector<std::vector<double>>& values, const std::vector<bool>& own) const;

  const Family& family_;
  Factor by_;
  double penalty_;
};

}  // namespace assay::model
