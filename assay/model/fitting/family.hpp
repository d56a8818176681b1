#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/model/law.hpp"
#include "assay/model/tables/table.hpp"

namespace assay::model {

/// How much work a fit may be.
struct Effort {
  std::int64_t evaluations = 80'000;  ///< of the cost, by differential evolution
  double penalty = 1e-3;              ///< on the sum of the constants' sizes, against laws that fit by chance
  std::uint64_t seed = 1;
};

/// A number that was found, by its name in the family's formula.
struct FittedConstant {
  std::string name;
  double value = 0;
  bool exponent = false;  ///< else a coefficient, which is not negative
  std::string level;      ///< whose it is; empty: of all
};

/// One way to find the law of a table. Without state: may be used by several threads.
class Family {
 public:
  virtual ~Family() = default;
  virtual const char* name() const = 0;
  virtual const char* formula() const = 0;  ///< what its laws look like, for a person

  /// Whether each factor has a place of its own in its laws, by its name. Others get no factor that goes with another.
  virtual bool knows_names() const { return false; }

  /// Why it cannot be fitted to such a table; null where it can.
  virtual std::optional<std::string> refusal(const Table& table) const = 0;

  /// The law of a table with one row per point. The same table and effort give the same law.
  virtual Law fit(const Table& table, const Effort& effort) const = 0;

  /// The same terms with constants for another table, such as one drawn from the first again.
  virtual Law refit(const Law& law, const Table& table) const = 0;

  /// The constants that were fitted, in an order that refit() keeps.
  virtual std::vector<FittedConstant> constants(const Law& law) const = 0;

  /// The same terms with these values of its constants, in their order.
  virtual Law with_constants(Law law, const std::vector<double>& values) const;
};

/// All there are; a new one is one file in families/ and one line in family.cpp.
const std::vector<const Family*>& families();

/// By its name; throws Error{usage} that lists them.
const Family& family_named(const std::string& name);

// One per file in families/.
const Family& generic_family();
const Family& ssgd_family();
const Family& ernest_family();
const Family& terms_family();

/// The law with coefficients, none negative, of the least relative error; its exponents stay.
Law with_coefficients(Law law, const Table& table);

/// The coefficients of a law as constants, named c0, c1, … or by their meaning.
std::vector<FittedConstant> coefficients(const Law& law);

/// Places of the factors of a role.
std::vector<std::size_t> with_role(const Table& table, Role role);

}  // namespace assay::model
