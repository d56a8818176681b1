#include "assay/tune/search/told.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::tune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const std::map<std::string, plan::Launch> kLaunch{
    {"intra_op", {{{"THREADS", "{value}"}}, "set({value})", "hook"}},
    {"library_threads", {{{"THREADS", "{value}"}}, "", ""}},
    {"inter_op", {{}, "pools({value}, {value})", ""}},
    {"spin=false", {{{"WAIT", "passive"}, {"FLAGS", "spin:{value}"}}, "", ""}},
    {"layout=nchw", {}},
    {"affinity", {{}, "unpin()", "hook"}},
};

TEST(Told, a_variable_has_the_value_in_its_place) {
  Settings settings;
  settings.intra_op = 4;
  settings.spin = false;
  const auto told = tell(kLaunch, settings);
  EXPECT_THAT(told.env, ElementsAre(Pair("FLAGS", "spin:false"), Pair("THREADS", "4"), Pair("WAIT", "passive")));
  EXPECT_THAT(told.code, IsEmpty());
  EXPECT_THAT(told.untold, IsEmpty());
}

TEST(Told, what_has_no_variable_is_a_line_of_code) {
  Settings settings;
  settings.inter_op = 2;
  const auto told = tell(kLaunch, settings);
  ASSERT_EQ(told.code.size(), 1U);
  EXPECT_EQ(told.code[0].setting, "inter_op");
  EXPECT_EQ(told.code[0].line, "pools(2, 2)");
}

TEST(Told, an_entry_of_a_value_holds_for_that_value_alone) {
  Settings settings;
  settings.spin = true;
  settings.layout = "nhwc";
  EXPECT_THAT(tell(kLaunch, settings).untold, ElementsAre("spin=true", "layout=nhwc"));
  settings.spin = false;
  settings.layout = "nchw";  // there is nothing to say
  EXPECT_THAT(tell(kLaunch, settings).untold, IsEmpty());
}

TEST(Told, the_library_has_the_variable_that_two_settings_want) {
  Settings settings;
  settings.intra_op = 4;
  settings.library_threads = 2;
  const auto told = tell(kLaunch, settings);
  EXPECT_THAT(told.env, ElementsAre(Pair("THREADS", "2")));
  ASSERT_EQ(told.code.size(), 1U);
  EXPECT_EQ(told.code[0].line, "set(4)");
  EXPECT_EQ(told.code[0].inject, "hook");
  settings.intra_op = 2;
  EXPECT_THAT(tell(kLaunch, settings).code, IsEmpty()) << "the same value is not a conflict";
}

TEST(Told, a_setting_wins_over_a_variable_of_the_same_name) {
  Settings settings;
  settings.intra_op = 4;
  settings.env = {{"THREADS", "9"}, {"OTHER", "x"}};
  EXPECT_THAT(tell(kLaunch, settings).env, ElementsAre(Pair("OTHER", "x"), Pair("THREADS", "4")));
}

TEST(Told, what_assay_sets_itself_is_told_only_where_the_framework_must_know) {
  Settings settings;
  settings.instances = 2;
  settings.affinity = Affinity::compact;
  settings.memory_bind = MemoryBind::local;
  settings.allocator = Allocator::jemalloc;
  const auto told = tell(kLaunch, settings);
  EXPECT_THAT(told.untold, IsEmpty());
  ASSERT_EQ(told.code.size(), 1U);
  EXPECT_EQ(told.code[0].line, "unpin()");
}

}  // namespace
}  // namespace assay::tune
