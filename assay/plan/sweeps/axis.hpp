#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/core/trial.hpp"

namespace assay::plan {

/// A value of an axis as the user wrote it: sweep text such as "1,2,8-32*2", or one value.
struct Written {
  std::string text;
  bool quoted = false;     ///< one value: no comma splits it, an option stays text; numbers are read all the same
  std::string place = {};  ///< "file.yaml:3:5" in front of messages, or empty
};

/// How the text of an axis is read.
enum class AxisKind {
  words,     ///< a comma list
  numbers,   ///< sweep_numbers()
  sizes,     ///< sweep_sizes()
  flag,      ///< true, false
  scalars,   ///< a comma list of numbers, ranges, true, false and words
  verbatim,  ///< one value; commas belong to it
};

/// One field of a trial that can be swept. A name that ends in '.' stands for all its members (options.width).
struct Axis {
  std::string name;
  AxisKind kind;
  bool nullable = false;             ///< "null" leaves the field to its default
  std::vector<std::string> choices;  ///< the words it takes; empty is any
  void (*apply)(Trial& trial, const std::string& member, const Scalar& value);
};

/// Every axis, in the order in which a sweep nests them: the last one varies fastest.
const std::vector<Axis>& axes();

/// An axis, and the member of it where it has members.
struct AxisName {
  std::size_t index = 0;  ///< into axes()
  std::string member;

  const Axis& axis() const { return axes()[index]; }
  std::string text() const { return axis().name + member; }
  bool operator<(const AxisName& other) const {
    return index != other.index ? index < other.index : member < other.member;
  }
};

/// Reads "batch", "settings.intra_op", "options.width" or "settings.env.OMP_NUM_THREADS".
/// Throws Error{usage} with the nearest name that there is.
AxisName axis_name(const std::string& text);

/// One value after expansion. Null: the field keeps its default. `written` is where it came from.
struct AxisValue {
  std::optional<Scalar> value;
  const Written* written;
};

/// The distinct values that `written` stands for, in order, each within its range.
/// Throws Error{usage} with the place, the value and the fix.
std::vector<AxisValue> axis_values(const AxisName& name, const std::vector<Written>& written);

}  // namespace assay::plan
