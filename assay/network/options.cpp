#include "assay/network/options.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace assay::network {

const Scalar* OptionReader::find(const std::string& name) {
  known_.push_back(name);
  const auto it = given_.find(name);
  return it == given_.end() ? nullptr : &it->second;
}

std::int64_t OptionReader::integer(const std::string& name, std::int64_t standard, std::int64_t least,
                                   std::int64_t most) {
  const Scalar* value = find(name);
  if (value == nullptr) return standard;
  const auto* number = std::get_if<std::int64_t>(value);
  if (number == nullptr || *number < least || *number > most) {
    fail(ErrorKind::usage, "{}: option '{}' is an integer from {} to {}, not {}", network_, name, least, most,
         mapping::scalar_to_json(*value).dump());
  }
  return *number;
}

std::int64_t OptionReader::multiple(const std::string& name, std::int64_t standard, std::int64_t of,
                                    std::int64_t most) {
  const std::int64_t number = integer(name, standard, of, most);
  if (number % of != 0) {
    fail(ErrorKind::usage, "{}: option '{}' is a multiple of {}, not {}", network_, name, of, number);
  }
  return number;
}

std::int64_t OptionReader::divisor(const std::string& name, std::int64_t standard, const std::string& of,
                                   std::int64_t whole) {
  const std::int64_t number = integer(name, standard, 1, whole);
  if (whole % number != 0) {
    fail(ErrorKind::usage, "{}: option '{}' must divide '{}', which is {}; {} does not", network_, name, of, whole,
         number);
  }
  return number;
}

double OptionReader::probability(const std::string& name, double standard) {
  const Scalar* value = find(name);
  if (value == nullptr) return standard;
  double number = -1;
  if (const auto* real = std::get_if<double>(value)) number = *real;
  if (const auto* whole = std::get_if<std::int64_t>(value)) number = static_cast<double>(*whole);
  if (!(number >= 0 && number < 1)) {
    fail(ErrorKind::usage, "{}: option '{}' is a probability from 0 to below 1, not {}", network_, name,
         mapping::scalar_to_json(*value).dump());
  }
  return number;
}

void OptionReader::finish() const {
  for (const auto& [name, value] : given_) {
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      fail(ErrorKind::usage, "{} has no option {}. It has: {}.", network_, shown(name), fmt::join(known_, ", "));
    }
  }
}

}  // namespace assay::network
