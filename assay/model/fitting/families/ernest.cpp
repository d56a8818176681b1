#include "assay/model/fitting/family.hpp"

namespace assay::model {
namespace {

/// After Ernest (NSDI 2016): a serial part, work that is shared, a tree of messages and one message for each processor;
/// none of them negative. With several factors, the work is their product, and each processor factor has its terms.
class Ernest : public Family {
 public:
  const char* name() const override { return "ernest"; }
  const char* formula() const override { return "c0 + c1 work + c2 work/p + c3 log2(p) + c4 p, each c >= 0"; }

  std::optional<std::string> refusal(const Table& table) const override {
    if (table.factors.empty()) return "no factor was varied";
    return std::nullopt;
  }

  Law fit(const Table& table, const Effort&) const override { return with_coefficients(terms_for(table), table); }
  Law refit(const Law& law, const Table& table) const override { return with_coefficients(law, table); }
  std::vector<FittedConstant> constants(const Law& law) const override { return coefficients(law); }

 private:
  static Law terms_for(const Table& table) {
    Law law{"ernest", {Term{}}};
    std::vector<Power> work;
    for (const auto& factor : table.factors) {
      if (factor.role != Role::parallel) work.push_back({factor.name});
    }
    if (!work.empty()) law.terms.push_back({0, work, ""});
    if (work.size() > 1) {
      for (const auto& one : work) law.terms.push_back({0, {one}, ""});
    }
    for (const auto f : with_role(table, Role::parallel)) {
      const auto& processors = table.factors[f].name;
      auto shared = work;
      shared.push_back({processors, Shape::plain, -1});
      law.terms.push_back({0, shared, ""});
      law.terms.push_back({0, {{processors, Shape::logarithm}}, ""});
      law.terms.push_back({0, {{processors}}, ""});
    }
    return law;
  }
};

}  // namespace

const Family& ernest_family() {
  static const Ernest family;
  return family;
}

}  // namespace assay::model
