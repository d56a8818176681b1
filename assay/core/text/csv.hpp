#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Text as a cell of CSV (RFC 4180), in quotes where it must be. Spreadsheets take a cell that begins with one of = + -
/// @, a tab or a line end for a formula, and carry it out: such text, unless it is a number, gets a ' in front.
std::string csv_cell(const std::string& text);

/// The text that csv_cell was given, from a cell whose quotes have been taken off.
std::string text_of_csv_cell(std::string_view cell);

}  // namespace assay
