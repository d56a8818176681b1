#include "assay/plan/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/plan/catalog.hpp"

namespace assay::plan {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& requirements, const std::string& package) {
  try {
    return "no error: " + pinned_release(requirements, package);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
}

TEST(Requirements, the_pin_is_found_among_other_lines) {
  const std::string text = "# torch==1\n--index-url https://example.org\nnumpy==1.26.4\n  torch == 2.12.0  # main\n";
  EXPECT_EQ(pinned_release(text, "torch"), "2.12.0");
  EXPECT_EQ(pinned_release(text, "numpy"), "1.26.4");
}

TEST(Requirements, names_are_one_as_pip_takes_them_for_one) {
  // PEP 503: runs of - _ . are one -, and case does not count.
  EXPECT_EQ(pinned_release("Foo__Bar.baz==1", "foo-bar-BAZ"), "1");
  EXPECT_THAT(error_of("torchvision==1", "torch"), HasSubstr("does not pin torch"));
}

TEST(Requirements, only_the_release_is_replaced) {
  EXPECT_EQ(with_release("a==1\ntorch[opt]==2.0+cpu ; python_version > '3'\nb==2\n", "torch", "2.1"),
            "a==1\ntorch[opt]==2.1 ; python_version > '3'\nb==2\n");
  EXPECT_EQ(with_release("torch==2", "torch", "10.0rc1"), "torch==10.0rc1");
}

TEST(Requirements, a_range_no_pin_or_two_pins_are_refused) {
  EXPECT_THAT(error_of("torch>=2\n", "torch"), HasSubstr("Write torch==RELEASE"));
  EXPECT_THAT(error_of("torch===2\n", "torch"), HasSubstr("Write torch==RELEASE"));
  EXPECT_THAT(error_of("torch==2,<3\n", "torch"), HasSubstr("Write torch==RELEASE"));
  EXPECT_THAT(error_of("torch==\n", "torch"), HasSubstr("Write torch==RELEASE"));
  EXPECT_THAT(error_of("torch[a\n", "torch"), HasSubstr("Write torch==RELEASE"));
  EXPECT_THAT(error_of("", "torch"), HasSubstr("the file does not pin torch"));
  EXPECT_THAT(error_of("torch==2\nTorch==3\n", "torch"), HasSubstr("twice"));
}

TEST(Requirements, a_listed_package_is_found_by_its_name) {
  const std::vector<std::string> packages{"numpy==2.0", "Typing_Extensions==4.1", "local @ file:///x"};
  EXPECT_EQ(listed_release(packages, "typing-extensions"), "4.1");
  EXPECT_FALSE(listed_release(packages, "local").has_value());
}

}  // namespace
}  // namespace assay::plan
