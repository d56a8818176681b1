#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::report {

/// How values lie along an axis.
enum class PictureAxisKind {
  category,  ///< at whole numbers from 0 on, each with a name
  linear,
  log,
};

/// How a series is drawn.
enum class SeriesKind {
  line,   ///< marks joined in order; where marks have an interval, a band behind it
  dots,   ///< a dot for each mark; where it has an interval, a whisker
  bars,   ///< from low to high, at x; at y where the y axis has categories
  cells,  ///< of a heat map, at categories of both axes
  rules,  ///< a line across the picture at x
};

}  // namespace assay::report

template <>
struct assay::EnumNames<assay::report::PictureAxisKind> {
  static constexpr std::array<const char*, 3> names{"category", "linear", "log"};
};

template <>
struct assay::EnumNames<assay::report::SeriesKind> {
  static constexpr std::array<const char*, 5> names{"line", "dots", "bars", "cells", "rules"};
};

namespace assay::report {

struct PictureAxis {
  std::string title;                               ///< with the unit
  PictureAxisKind kind = PictureAxisKind::linear;  ///< category: at whole numbers from 0 on, each with a name
  std::vector<std::string> categories = {};
  double low = 0;  ///< its ends; set by fit_axes()
  double high = 1;
};

template <typename V>
void describe(V& v, PictureAxis& a) {
  v("title", a.title);
  required(v, "kind", a.kind);
  v("categories", a.categories);
  required(v, "low", a.low);
  required(v, "high", a.high);
}

/// One thing in a picture.
struct Mark {
  double x = 0;  ///< on an axis of categories the index of one
  double y = 0;
  std::optional<double> low = {};  ///< interval of y; the two ends of a bar
  std::optional<double> high = {};
  std::optional<double> shade = {};  ///< of a cell: 0 worst, 1 best
  std::string text = {};             ///< written beside it, or into it
  std::string note = {};             ///< shown to a pointer
  bool hatched = false;
  bool ringed = false;
};

template <typename V>
void describe(V& v, Mark& m) {
  required(v, "x", m.x);
  required(v, "y", m.y);
  v("low", m.low);
  v("high", m.high);
  v("shade", m.shade);
  v("text", m.text);
  v("note", m.note);
  v("hatched", m.hatched);
  v("ringed", m.ringed);
}

struct Series {
  std::string name;
  SeriesKind kind = SeriesKind::line;
  std::int64_t colour = 0;  ///< number in the palette; the shape of a dot goes with it
  bool dashed = false;
  std::vector<Mark> marks = {};
};

template <typename V>
void describe(V& v, Series& s) {
  required(v, "name", s.name);
  required(v, "kind", s.kind);
  required(v, "colour", s.colour);
  v("dashed", s.dashed);
  required(v, "marks", s.marks);
}

/// One picture in words and marks. The same description is drawn twice: as plain SVG by svg_of(), for readers without
/// JavaScript and for paper, and by the page's own script.
struct Picture {
  std::string id;        ///< fit for the name of a file
  std::string question;  ///< pictures of one question stand together
  std::string title;
  std::string answer;   ///< what it says, in plain words
  std::string command;  ///< that shows the same in a terminal
  PictureAxis x;
  PictureAxis y;
  std::vector<Series> series;
};

template <typename V>
void describe(V& v, Picture& p) {
  required(v, "id", p.id);
  required(v, "question", p.question);
  required(v, "title", p.title);
  v("answer", p.answer);
  v("command", p.command);
  required(v, "x", p.x);
  required(v, "y", p.y);
  required(v, "series", p.series);
}

constexpr std::int64_t kPaletteSize = 8;

/// Sets the ends of both axes so that every mark lies between them, at round numbers.
void fit_axes(Picture& picture);

/// Values at which an axis has a tick, between its ends.
std::vector<double> ticks_of(const PictureAxis& axis);

/// 1234567 -> "1.23M": three digits that mean something, or as many as are asked for.
std::string short_number(double value, int digits = 3);

/// Digits that tell neighbouring ticks apart, at least three.
int tick_digits(const PictureAxis& axis);

/// The picture as an SVG element of its own, with classes for colours. Precondition: marks lie at categories that are
/// there; on a logarithmic axis they are positive (others are left out).
std::string svg_of(const Picture& picture);

}  // namespace assay::report
