#pragma once

#include <string>
#include <vector>

#include "assay/report/document.hpp"

namespace assay::report {

/// All blocks of a kind, in their order.
template <typename Kind>
std::vector<Kind> blocks_of(const Document& document) {
  std::vector<Kind> found;
  for (const auto& block : document.blocks()) {
    if (const auto* one = std::get_if<Kind>(&block)) found.push_back(*one);
  }
  return found;
}

/// The texts of all blocks of a kind that has one.
template <typename Kind>
std::vector<std::string> texts_of(const Document& document) {
  std::vector<std::string> texts;
  for (const auto& one : blocks_of<Kind>(document)) texts.push_back(one.text);
  return texts;
}

inline std::vector<std::string> headings_of(const Document& document) {
  return texts_of<Heading>(document);
}

inline std::vector<std::string> paragraphs_of(const Document& document) {
  return texts_of<Paragraph>(document);
}

inline std::vector<std::string> items_of(const Document& document) {
  return texts_of<Item>(document);
}

inline std::vector<Table> tables_of(const Document& document) {
  return blocks_of<Table>(document);
}

inline std::vector<std::string> titles_of(const Table& table) {
  std::vector<std::string> titles;
  for (const auto& column : table.columns()) titles.push_back(column.title);
  return titles;
}

}  // namespace assay::report
