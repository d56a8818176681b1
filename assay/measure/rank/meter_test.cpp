#include "assay/measure/rank/meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace assay::measure {
namespace {

using testing::HasSubstr;

/// A meter as a user would write it.
class Script {
 public:
  explicit Script(const std::string& body)
      : path_(testing::TempDir() + "meter-" + std::to_string(getpid()) + "-" + std::to_string(++made_)) {
    std::ofstream(path_) << "#!/bin/sh\n" << body << "\n";
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ~Script() { std::filesystem::remove(path_); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  const std::string& path() const { return path_; }

 private:
  static inline int made_ = 0;
  std::string path_;
};

const std::vector<std::string> kEnvironment{"PATH=/usr/bin:/bin"};

// As assay-rank does: a meter that has ended is an error of a call, not the end of who asks it.
[[maybe_unused]] const auto kPipesAreCalls = std::signal(SIGPIPE, SIG_IGN);

TEST(Meter, a_line_is_answered_with_joules) {
  const Script script("n=0; while read -r line; do n=$((n + 5)); echo $n.25; done");
  Meter meter(script.path(), kEnvironment);
  EXPECT_EQ(meter.read(), 10.25);  // the first reading is taken when it starts
  EXPECT_EQ(meter.read(), 15.25);
  EXPECT_FALSE(meter.problem());
}

struct Bad {
  const char* body;
  const char* problem;
};

class BadMeter : public testing::TestWithParam<Bad> {};

TEST_P(BadMeter, is_told_and_gives_no_number) {
  const Script script(GetParam().body);
  Meter meter(script.path(), kEnvironment);
  EXPECT_FALSE(meter.read());
  ASSERT_TRUE(meter.problem());
  EXPECT_THAT(*meter.problem(), HasSubstr(GetParam().problem));
}

INSTANTIATE_TEST_SUITE_P(
    Meter, BadMeter,
    testing::Values(Bad{"read -r line; echo watts", "'watts', which is not a number of joules"},
                    Bad{"read -r line; echo -1", "not a number of joules"},
                    Bad{"read -r line; echo nan", "not a number of joules"},
                    Bad{"read -r line; echo ''", "not a number of joules"}, Bad{"exit 3", "has ended"},
                    Bad{"read -r line; printf '%0200d' 1; read -r line", "more than 64 characters"},
                    Bad{"exec sleep 100", "did not answer within 2 s"}));

TEST(Meter, one_that_is_not_there_is_told) {
  Meter meter("/nowhere/meter", kEnvironment);
  EXPECT_FALSE(meter.read());
  EXPECT_THAT(meter.problem().value_or(""), HasSubstr("does not start"));
}

}  // namespace
}  // namespace assay::measure
