#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/tables/frame.hpp"

namespace assay::predict {

/// A user's CSV table, read by the names of its columns. Rows count from 0 here and from 1 in messages. Each function
/// throws Error{bad_input} that names the file, and the row where there is one.
class NamedColumns {
 public:
  /// `expected` says which columns such a table has, as a sentence for messages.
  NamedColumns(std::string_view csv, std::string file, std::string expected);

  std::size_t rows() const { return frame_.rows.size(); }
  bool has(const std::string& column) const;
  const std::string& text(std::size_t row, const std::string& column) const;
  double number(std::size_t row, const std::string& column) const;                ///< finite, from 0 on
  std::int64_t count(std::size_t row, const std::string& column) const;           ///< a whole number from 1 on
  std::vector<double> numbers(std::size_t row, const std::string& column) const;  ///< with ; between them

  /// Of the column that is named so and ends with _seconds, _ms, _us or _ns.
  double seconds(std::size_t row, const std::string& beginning) const;

  const std::string& file() const { return file_; }
  const model::Frame& frame() const { return frame_; }

  /// A number, finite and from 0 on, in a part of a cell of this column; `hint` says how such a cell is written.
  double number_in(std::string_view text, std::size_t row, const std::string& column,
                   const std::string& hint = "") const;

  [[noreturn]] void wrong(std::size_t row, const std::string& what) const;

 private:
  std::size_t place(const std::string& column) const;

  model::Frame frame_;
  std::string file_;
  std::string expected_;
};

}  // namespace assay::predict
