#include "assay/report/subjects/layers/layer_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/document_fixture.hpp"

namespace assay::report {
namespace {

using testing::ElementsAre;

predict::LayerTime timed_layer(const std::string& name, double forward_seconds, double backward_seconds) {
  return {name, forward_seconds, backward_seconds, {512, 512}, 0};
}

TEST(LayerTable, TheLongestLayersComeFirst) {
  predict::LayerTable table;
  table.layers = {timed_layer("a", 1e-3, 2e-3), timed_layer("b", 2e-3, 4e-3)};
  table.update_seconds = 5e-3;
  table.load_seconds = 6e-3;
  const auto document = layer_table_document(table);
  EXPECT_THAT(paragraphs_of(document), ElementsAre("2 layers: forward 3 ms, backward 6 ms, update 5 ms, load 6 ms; "
                                                   "0.002048 MB of gradients"));
  EXPECT_THAT(tables_of(document).at(0).rows(),
              ElementsAre(ElementsAre("b", "2 ms", "4 ms", "1 KiB"), ElementsAre("a", "1 ms", "2 ms", "1 KiB")));
}

TEST(LayerTable, EightLayersAreShownAtMost) {
  predict::LayerTable table;
  for (int i = 1; i <= 9; ++i) table.layers.push_back(timed_layer(std::to_string(i), i, i));
  const auto rows = tables_of(layer_table_document(table)).at(0).rows();
  EXPECT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows.back().front(), "2");
}

TEST(LayerTable, RanksAreNamedWithWhatTheTableHasOfThem) {
  predict::LayerTable table;
  table.name = "b.json";
  table.layers = {timed_layer("a", 1e-3, 2e-3)};
  table.ranks = {{0, "a.json", 1e-3, 2e-3, 3e-3, 4e-3}, {1, "b.json", 2e-3, 3e-3, 4e-3, 5e-3}};
  auto document = layer_table_document(table);
  EXPECT_THAT(tables_of(document).at(1).rows(),
              ElementsAre(ElementsAre("0", "1 ms", "2 ms", "3 ms", "4 ms", "a.json"),
                          ElementsAre("1", "2 ms", "3 ms", "4 ms", "5 ms", "b.json")));
  EXPECT_EQ(paragraphs_of(document).back(), "Every time above is the median over 2 ranks.");
  table.why_not_joined = "rank 1 has another";
  document = layer_table_document(table);
  EXPECT_EQ(paragraphs_of(document).back(),
            "Layers differ: rank 1 has another. The table is 'b.json', the rank that computes longest.");
}

TEST(LayerTable, OfInferenceAloneItSaysWhatIsMissing) {
  predict::LayerTable table;
  table.layers = {timed_layer("a", 1e-3, 0)};
  EXPECT_EQ(paragraphs_of(layer_table_document(table)).back(),
            "Only inference is in it: predict has no backward pass and no gradients to go by.");
}

}  // namespace
}  // namespace assay::report
