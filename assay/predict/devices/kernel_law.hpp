#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/predict/calibration/bounded_fit.hpp"
#include "assay/predict/devices/device_sheet.hpp"

namespace assay::predict {

/// What a law's constants rest on.
enum class LawBasis {
  measured,    ///< rows of this device
  borrowed,    ///< shares of its data sheet that another device was measured to reach
  data_sheet,  ///< nothing was measured: the whole of what the data sheet says
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::LawBasis> {
  static constexpr std::array<const char*, 3> names{"measured", "borrowed", "data_sheet"};
};

namespace assay::predict {

/// A constant of a kernel's law: its name, what it is, where it starts and its bounds, as values and not logarithms.
struct LawConstantSpec {
  const char* name;
  const char* sentence;
  double start;
  double low;
  double high;
};

/// A fitted constant with the 90 % interval of the linearised fit; null where the rows do not determine it.
struct LawConstant {
  std::string name;
  double value = 0;
  std::optional<double> low;
  std::optional<double> high;
};

template <typename V>
void describe(V& v, LawConstant& c) {
  required(v, "name", c.name);
  required(v, "value", c.value);
  v("low", c.low);
  v("high", c.high);
}

/// A law of one kind of kernel on one device. A time is known to a factor of exp(±range) in nine cases of ten, by rows
/// that were left out of the fit.
struct KernelLaw {
  std::vector<LawConstant> constants;
  LawBasis basis = LawBasis::data_sheet;
  std::string source;
  std::int64_t rows = 0;
  double median_error = 0;  ///< of rows that were left out in turn
  double range = 0.7;

  std::vector<double> values() const;
};

template <typename V>
void describe(V& v, KernelLaw& l) {
  required(v, "constants", l.constants);
  required(v, "basis", l.basis);
  v("source", l.source);
  v("rows", l.rows);
  v("median_error", l.median_error);
  v("range", l.range);
}

/// Seconds of row `row` at these constants.
using LawSeconds = std::function<double(const std::vector<double>& constants, std::size_t row)>;

/// Constants that are tried first, each in place of the start of the constant at this position.
struct LawStart {
  std::size_t constant = 0;
  double value = 0;
};

struct LawFit {
  std::vector<LawConstantSpec> constants;
  std::vector<std::vector<LawStart>> starts;  ///< the best of them counts; empty: one, as the constants say
  LawSeconds seconds;
  std::vector<double> measured;  ///< seconds of each row, above zero
  std::string source;
};

/// Least squares of log residuals that weigh outliers less (soft L1 at 10 %). Range and error are from leaving a fifth
/// of the rows out in turn. Precondition: at least one row.
KernelLaw fit_law(const LawFit& fit);

/// A law of these constants that nothing was fitted to: shares are 1 and fixed times 0.
KernelLaw data_sheet_law(const std::vector<LawConstantSpec>& constants, const std::vector<double>& values);

/// A residual whose square grows as its size beyond `softness` (soft L1), so that one wild row does not decide a fit.
double softened(double residual, double softness);

/// The half width of a conformal range: the smallest of |log residuals| that `share` of (n + 1) are not above.
/// Precondition: not empty.
double conformal_width(std::vector<double> residuals, double share);

}  // namespace assay::predict
