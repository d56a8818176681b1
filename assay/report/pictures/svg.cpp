#include <algorithm>
#include <cmath>

#include "assay/core/text/utf8.hpp"
#include "assay/report/markup.hpp"
#include "assay/report/pictures/picture.hpp"

namespace assay::report {
namespace {

constexpr double kWidth = 720;
constexpr double kCharacter = 6.4;        // of the page's font at 12 pixels, on average
constexpr double kLegendCharacter = 7.2;  // names must not touch
constexpr std::size_t kLongestLabel = 32;
constexpr double kLegendRow = 18;

/// Where things lie, in pixels from the upper left corner.
struct Frame {
  double left = 64;
  double right = kWidth - 16;
  double top = 16;
  double bottom = 0;
};

double place(const PictureAxis& axis, double value, double from, double to) {
  const bool is_log = axis.kind == PictureAxisKind::log;
  const double low = is_log ? std::log(axis.low) : axis.low;
  const double high = is_log ? std::log(axis.high) : axis.high;
  const double share = ((is_log ? std::log(value) : value) - low) / (high - low);
  return from + std::clamp(share, -0.05, 1.05) * (to - from);
}

std::string label(const std::string& text, std::size_t limit = kLongestLabel) {
  return escaped(text, limit);
}

class Drawing {
 public:
  explicit Drawing(const Picture& picture) : picture_(picture) {
    sideways_ = picture.y.kind == PictureAxisKind::category && picture.x.kind != PictureAxisKind::category;
    if (picture.y.kind == PictureAxisKind::category) frame_.left = 16 + widest(picture.y) * kCharacter;
    place_legend();
    const double rows = static_cast<double>(picture.y.categories.size());
    const double plot = picture.y.kind == PictureAxisKind::category ? std::max(60.0, 30 * rows) : 250;
    frame_.bottom = frame_.top + plot;
  }

  std::string text() {
    const double height = frame_.bottom + 46;
    out_ = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">", kWidth, height,
                       escaped(picture_.answer.empty() ? picture_.title : picture_.answer));
    out_ += fmt::format(
        "<defs><pattern id=\"hatch-{0}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><path class=\"hatch\" d=\"M0 0V6\"/></pattern></defs>",
        escaped(picture_.id));
    axes();
    for (const auto& series : picture_.series) draw(series);
    legend();
    return out_ + "</svg>";
  }

 private:
  static double widest(const PictureAxis& axis) {
    std::size_t most = 4;
    for (const auto& name : axis.categories) most = std::max(most, std::min(name.size(), kLongestLabel));
    return static_cast<double>(most);
  }

  double x(double value) const { return place(picture_.x, value, frame_.left, frame_.right); }
  double y(double value) const {
    // Categories are read from the top down.
    return picture_.y.kind == PictureAxisKind::category && sideways_
               ? place(picture_.y, value, frame_.top, frame_.bottom)
               : place(picture_.y, value, frame_.bottom, frame_.top);
  }
  bool drawable(double at_x, double at_y) const {
    return std::isfinite(at_x) && std::isfinite(at_y) && (picture_.x.kind != PictureAxisKind::log || at_x > 0) &&
           (picture_.y.kind != PictureAxisKind::log || at_y > 0);
  }

  void write(double at_x, double at_y, const char* anchor, const std::string& text, const char* style = "tick") {
    out_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", style, at_x, at_y,
                        anchor, text);
  }

  void axes() {
    const auto& ax = picture_.x;
    const auto& ay = picture_.y;
    for (const double tick : ticks_of(ay)) {
      const bool named = ay.kind == PictureAxisKind::category;
      const double at = y(tick);
      if (!named) {
        out_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", frame_.left, at, frame_.right);
      }
      write(frame_.left - 6, at + 4, "end",
            named ? label(ay.categories[static_cast<std::size_t>(tick)]) : short_number(tick, tick_digits(ay)));
    }
    x_ticks(ax);
    write((frame_.left + frame_.right) / 2, frame_.bottom + 38, "middle", label(ax.title, 90));
    if (!sideways_) write(frame_.left, frame_.top - 7, "start", label(ay.title, 90));
  }

  void x_ticks(const PictureAxis& axis) {
    const auto ticks = ticks_of(axis);
    const double room = (frame_.right - frame_.left) / static_cast<double>(std::max<std::size_t>(1, ticks.size()));
    const bool named = axis.kind == PictureAxisKind::category;
    const double longest = named ? widest(axis) * kCharacter : 34;
    // Names that would run into each other are cut where they are few, and else only some are written.
    const std::size_t stride = named && ticks.size() <= 8 ? 1 : static_cast<std::size_t>(std::ceil(longest / room));
    const auto limit = static_cast<std::size_t>(std::max(4.0, room * static_cast<double>(stride) / kCharacter - 1));
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      const double at = x(ticks[i]);
      if (!named)
        out_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", at, frame_.top, frame_.bottom);
      if (i % stride == 0) {
        write(at, frame_.bottom + 16, "middle",
              named ? label(axis.categories[i], limit) : short_number(ticks[i], tick_digits(axis)));
      }
    }
  }

  void draw(const Series& series) {
    out_ += fmt::format("<g class=\"c{}\">", series.colour % kPaletteSize);
    switch (series.kind) {
      case SeriesKind::line:
        line(series);
        break;
      case SeriesKind::dots:
        for (const auto& mark : series.marks) dot(series, mark);
        break;
      case SeriesKind::bars:
        for (const auto& mark : series.marks) bar(mark);
        break;
      case SeriesKind::cells:
        for (const auto& mark : series.marks) cell(mark);
        break;
      case SeriesKind::rules:
        for (const auto& mark : series.marks) rule(mark);
        break;
    }
    out_ += "</g>";
  }

  void line(const Series& series) {
    std::string upper;
    std::string lower;
    std::string path;
    for (const auto& mark : series.marks) {
      if (!drawable(mark.x, mark.y)) continue;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(mark.x), y(mark.y));
      if (!mark.low || !mark.high || !drawable(mark.x, *mark.low) || !drawable(mark.x, *mark.high)) continue;
      upper += fmt::format("{}{:.1f} {:.1f}", upper.empty() ? "M" : "L", x(mark.x), y(*mark.high));
      lower = fmt::format("L{:.1f} {:.1f}", x(mark.x), y(*mark.low)) + lower;
    }
    if (!upper.empty()) out_ += fmt::format("<path class=\"band\" d=\"{}{}Z\"/>", upper, lower);
    if (!path.empty()) out_ += fmt::format("<path class=\"line{}\" d=\"{}\"/>", series.dashed ? " dashed" : "", path);
    for (const auto& mark : series.marks) {
      if (!mark.text.empty() && drawable(mark.x, mark.y)) write(x(mark.x), y(mark.y) - 6, "middle", label(mark.text));
    }
  }

  /// Shapes differ with colours, so that no colour must be told from another.
  void dot(const Series& series, const Mark& mark) {
    if (!drawable(mark.x, mark.y)) return;
    const double at_x = x(mark.x);
    const double at_y = y(mark.y);
    const double r = series.marks.size() > 100 ? 1.8 : 3.5;
    if (mark.low && mark.high && drawable(mark.x, *mark.low)) {
      out_ += fmt::format("<path class=\"line\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", at_x, y(*mark.low), y(*mark.high));
    }
    switch (series.colour % 4) {
      case 0:
        out_ += fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", at_x, at_y, r);
        break;
      case 1:
        out_ += fmt::format("<path class=\"dot\" d=\"M{:.1f} {:.1f}h{}v{}h-{}z\"/>", at_x - r, at_y - r, 2 * r, 2 * r,
                            2 * r);
        break;
      case 2:
        out_ += fmt::format("<path class=\"dot\" d=\"M{:.1f} {:.1f}l{} {}h-{}z\"/>", at_x, at_y - r, r, 2 * r, 2 * r);
        break;
      default:
        out_ += fmt::format("<path class=\"dot\" d=\"M{:.1f} {:.1f}l{} {}l-{} {}l-{} -{}z\"/>", at_x, at_y - r, r, r, r,
                            r, r, r);
    }
    if (!mark.text.empty()) write(at_x + 7, at_y + 4, "start", label(mark.text));
  }

  void bar(const Mark& mark) {
    if (!mark.low || !mark.high) return;
    double left = 0;
    double top = 0;
    double width = 0;
    double height = 0;
    if (sideways_) {
      left = x(std::min(*mark.low, *mark.high));
      width = std::abs(x(*mark.high) - x(*mark.low));
      height = 20;
      top = y(mark.y) - height / 2;
    } else {
      width = 0.66 * (x(1) - x(0));
      left = x(mark.x) - width / 2;
      top = y(std::max(*mark.low, *mark.high));
      height = std::abs(y(*mark.high) - y(*mark.low));
    }
    out_ += fmt::format("<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", left, top,
                        width, height);
    if (mark.text.empty()) return;
    if (!sideways_) return write(left + width / 2, top - 5, "middle", label(mark.text));
    if (width > static_cast<double>(mark.text.size()) * kCharacter) {
      write(left + width / 2, top + 14, "middle", label(mark.text), "inside");
    }
  }

  void cell(const Mark& mark) {
    const double width = x(mark.x + 0.5) - x(mark.x - 0.5) - 2;
    const double height = std::abs(y(mark.y + 0.5) - y(mark.y - 0.5)) - 2;
    const double left = x(mark.x) - width / 2;
    const double top = y(mark.y) - height / 2;
    const double shade = std::clamp(mark.shade.value_or(0), 0.0, 1.0);
    const auto box =
        fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", left, top, width, height);
    out_ += fmt::format("<rect class=\"bar\" {} fill-opacity=\"{:.2f}\"/>", box, 0.06 + 0.94 * shade);
    if (mark.hatched) out_ += fmt::format("<rect {} fill=\"url(#hatch-{})\"/>", box, escaped(picture_.id));
    if (mark.ringed) out_ += fmt::format("<rect class=\"ring\" {}/>", box);
    write(x(mark.x), y(mark.y) + 4, "middle", label(mark.text), shade > 0.55 ? "inside" : "tick");
  }

  void rule(const Mark& mark) {
    out_ +=
        fmt::format("<path class=\"line dashed\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", x(mark.x), frame_.top, frame_.bottom);
    write(x(mark.x) + 4, frame_.top + 10, "start", label(mark.text));
  }

  /// Rows of names above the plot; what has no name needs none.
  void place_legend() {
    const auto named = std::count_if(picture_.series.begin(), picture_.series.end(),
                                     [](const Series& series) { return !series.name.empty(); });
    double at_x = frame_.left;
    double at_y = 12;
    for (const auto& series : picture_.series) {
      if (series.name.empty() || named < 2) continue;
      const double width = 24 + static_cast<double>(std::min(series.name.size(), std::size_t{70})) * kLegendCharacter;
      if (at_x + width > frame_.right && at_x > frame_.left) {
        at_x = frame_.left;
        at_y += kLegendRow;
      }
      names_.push_back({at_x, at_y, &series});
      at_x += width;
    }
    frame_.top = (names_.empty() ? 8 : at_y + 10) + 18;
  }

  void legend() {
    for (const auto& name : names_) {
      out_ +=
          fmt::format("<g class=\"c{}\"><rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\"/></g>",
                      name.series->colour % kPaletteSize, name.x, name.y - 9);
      write(name.x + 14, name.y, "start", label(name.series->name, 70));
    }
  }

  struct Name {
    double x;
    double y;
    const Series* series;
  };

  const Picture& picture_;
  bool sideways_ = false;
  Frame frame_;
  std::vector<Name> names_;
  std::string out_;
};

}  // namespace

std::string svg_of(const Picture& picture) {
  return Drawing(picture).text();
}

}  // namespace assay::report
