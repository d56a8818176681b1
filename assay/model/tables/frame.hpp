#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/tables/table.hpp"

namespace assay::model {

/// Cells of text in named columns: what a CSV file or the records of a store come to.
struct Frame {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

/// CSV of RFC 4180 with a header line, at most 64 MiB, 200,000 rows and 100 columns; `name` stands for it in messages.
/// Throws Error{bad_input} with the line.
Frame parse_csv(std::string_view text, const std::string& name);

/// The same from a file.
Frame read_csv(const std::string& path);

/// The CSV that parse_csv() reads back.
std::string csv_of(const Frame& frame);

/// How a frame becomes tables.
struct Columns {
  std::string time = "seconds";              ///< its name may end with _ms, _us or _ns, which is its unit then
  std::vector<std::string> factors;          ///< none: every other column of numbers without gaps
  std::vector<std::string> ignored;          ///< columns that are no factors
  std::string by;                            ///< a column whose texts are levels of one law; empty: none
  std::map<std::string, Role> roles;         ///< where the usual one is wrong
  std::map<std::string, std::string> where;  ///< only rows with this text in this column
};

/// Rows that are alike in all columns of text.
struct Group {
  std::string title;  ///< "pytorch, train"; empty where there is one
  Table table;
};

/// Splits a frame by its columns of text other than `by`, whose levels become the first factor, and reads the numbers.
/// Throws Error{usage} where a column is named that is not there, or a cell is not a number above zero.
std::vector<Group> groups_of(const Frame& frame, const Columns& columns);

}  // namespace assay::model
