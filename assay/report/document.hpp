#pragma once

#include <string>
#include <variant>
#include <vector>

#include "assay/report/table.hpp"

namespace assay::report {

/// How a line is meant. A terminal paints it where it takes colours.
enum class Tone { plain, strong, good, notice, warning, bad };

/// Begins a part.
struct Heading {
  std::string text;
};

struct Paragraph {
  std::string text;
};

/// A line that belongs to what comes before it. At depth 2 it explains the item before it.
struct Item {
  std::string text;
  int depth = 1;
  Tone tone = Tone::plain;
};

/// A word and what is said of it, such as "warning" and a finding.
struct Term {
  std::string word;  ///< empty: more about the last one
  std::string text;
  Tone tone = Tone::plain;
};

/// A table of short words, "-" where there is nothing. A terminal that its columns do not fit in has rows that are
/// alike in one group, and below them the columns that have something: no name is cut.
struct Matrix {
  Table table;
};

/// Values in their order, as a line of small bars.
struct Curve {
  std::vector<double> values;
  std::string caption;
};

/// A map of characters, drawn already.
struct CharacterMap {
  std::string plain;
  std::string coloured;
};

/// Sets apart what follows on a terminal. Elsewhere all blocks are apart.
struct Gap {};

using Block = std::variant<Heading, Paragraph, Item, Term, Table, Matrix, Curve, CharacterMap, Gap>;

/// What a command answers, without how it is shown: `renderers/` draw it. A subject of the report makes one.
class Document {
 public:
  void heading(std::string text) { add(Heading{std::move(text)}); }
  void paragraph(std::string text) { add(Paragraph{std::move(text)}); }
  void item(std::string text, int depth = 1, Tone tone = Tone::plain) { add(Item{std::move(text), depth, tone}); }
  void term(std::string word, std::string text, Tone tone = Tone::plain) {
    add(Term{std::move(word), std::move(text), tone});
  }
  void gap() { add(Gap{}); }
  void add(Block block) { blocks_.push_back(std::move(block)); }
  void append(const Document& other) { blocks_.insert(blocks_.end(), other.blocks_.begin(), other.blocks_.end()); }

  const std::vector<Block>& blocks() const { return blocks_; }
  bool empty() const { return blocks_.empty(); }

 private:
  std::vector<Block> blocks_;
};

}  // namespace assay::report
