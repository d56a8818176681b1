#include "assay/report/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::report {
namespace {

constexpr const char* kForm = "<title><!--assay:title--></title><!--assay:body--><script><!--assay:data--></script>end";

Picture bars() {
  Picture picture;
  picture.id = "p";
  picture.question = "Why?";
  picture.title = "a < b";
  picture.x.kind = PictureAxisKind::category;
  picture.x.categories = {"one", "two"};
  picture.series.push_back({.name = "s", .kind = SeriesKind::bars});
  picture.series[0].marks = {{.x = 0, .low = 0, .high = 30}, {.x = 1, .low = 30, .high = 47}};
  return picture;
}

TEST(Page, TitleBodyAndDataStandInTheirPlaces) {
  ReportPage page;
  page.title = "<!--assay:body-->";  // must not pass for a place
  page.pictures.push_back(bars());
  fit_axes(page.pictures[0]);
  const auto text = html_page(page, kForm);
  EXPECT_EQ(text.find("<title>&lt;!--assay:body--&gt;</title><header>"), 0u);
  EXPECT_NE(text.find("<h3>a &lt; b</h3>"), std::string::npos);
  EXPECT_NE(text.find("\"title\":\"a \\u003c b\""), std::string::npos);
  EXPECT_TRUE(text.ends_with("</script>end"));
}

TEST(Page, AFormWithoutAPlaceIsRefused) {
  EXPECT_THROW(html_page({}, "<!--assay:title--><!--assay:body-->"), Error);
}

TEST(Page, AxesEndAtRoundNumbersAroundAllMarks) {
  auto picture = bars();
  fit_axes(picture);
  // Bars from 0 to 47 in about five steps of 1, 2 or 5: steps of 10, up to 50.
  EXPECT_DOUBLE_EQ(picture.y.low, 0);
  EXPECT_DOUBLE_EQ(picture.y.high, 50);
  EXPECT_EQ(ticks_of(picture.y), (std::vector<double>{0, 10, 20, 30, 40, 50}));
  EXPECT_DOUBLE_EQ(picture.x.low, -0.5);
  EXPECT_DOUBLE_EQ(picture.x.high, 1.5);
}

TEST(Page, ALogarithmicAxisHasWholeDecadesAndPassesOverZero) {
  Picture picture;
  picture.y.kind = PictureAxisKind::log;
  picture.series.push_back({.name = "s", .kind = SeriesKind::dots});
  picture.series[0].marks = {{.x = 1, .y = 0}, {.x = 2, .y = 30}, {.x = 3, .y = 20'000}};
  fit_axes(picture);
  EXPECT_DOUBLE_EQ(picture.y.low, 10);
  EXPECT_NEAR(picture.y.high, 1e5, 1e-6);
  EXPECT_EQ(ticks_of(picture.y).size(), 5u);  // 10, 100, 1k, 10k, 100k
  // A dot for each mark that can lie there.
  const auto svg = svg_of(picture);
  std::size_t dots = 0;
  for (auto at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) ++dots;
  EXPECT_EQ(dots, 2u);
}

TEST(Page, OneValueStillHasAnAxis) {
  Picture picture;
  picture.series.push_back({.name = "s", .kind = SeriesKind::dots});
  picture.series[0].marks = {{.x = 7, .y = 0}};
  fit_axes(picture);
  EXPECT_LT(picture.x.low, 7);
  EXPECT_GT(picture.x.high, 7);
  EXPECT_LT(picture.y.low, 0);
  EXPECT_GT(picture.y.high, 0);
}

TEST(Page, ABarIsAsHighAsItsValue) {
  auto picture = bars();
  picture.series.resize(1);
  fit_axes(picture);
  // The plot is 250 pixels for 50: 30 are 150 pixels, 17 are 85.
  const auto svg = svg_of(picture);
  EXPECT_NE(svg.find("height=\"150.0\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("height=\"85.0\""), std::string::npos);
}

TEST(Page, NumbersAreShort) {
  EXPECT_EQ(short_number(1234567), "1.23M");
  EXPECT_EQ(short_number(999.6), "1k");
  EXPECT_EQ(short_number(0.01234), "0.0123");
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(-1500), "-1.5k");
  // From .898 to .901 in steps of .0005 or .001: four digits tell them apart.
  EXPECT_GE(tick_digits({.title = "", .kind = PictureAxisKind::linear, .low = 0.898, .high = 0.901}), 4);
  EXPECT_EQ(tick_digits({.title = "", .kind = PictureAxisKind::linear, .low = 0, .high = 50}), 3);
}

}  // namespace
}  // namespace assay::report
