#include "assay/plan/catalog/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/plan/catalog/catalog.hpp"

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

constexpr const char* kLock =
    "# written by a program\n"
    "Sci_Py==1.17.1 ; python_full_version < '3.12' \\\n    --hash=sha256:0123 \\\n    --hash=sha256:4567\n"
    "scipy==1.18.1 ; python_full_version >= '3.12' --hash=sha256:89ab\n"
    "torch==2.13.0+cpu \\\n    --hash=sha256:cdef\n"
    "range==1,<2\nfamily==1.*\nexact===3\nbare\n";

TEST(Lock, its_pins_are_read_with_their_builds_and_other_lines_passed_over) {
  std::vector<std::string> seen;
  for (const auto& package : pinned_packages(kLock)) seen.push_back(package.name + " " + package.release);
  EXPECT_THAT(seen, testing::ElementsAre("sci-py 1.17.1", "scipy 1.18.1", "torch 2.13.0+cpu"));
}

TEST(Lock, a_build_is_found_by_the_release_it_is_of) {
  const auto packages = pinned_packages(kLock);
  EXPECT_EQ(find_build(packages, "Torch", "2.13.0"), "2.13.0+cpu");
  EXPECT_EQ(find_build(packages, "torch", "2.13.0+cpu"), "2.13.0+cpu");
  EXPECT_EQ(find_build(packages, "scipy", "1.18.1"), "1.18.1");
  EXPECT_FALSE(find_build(packages, "torch", "2.13").has_value());  // 2.13 is another release
  EXPECT_FALSE(find_build(packages, "torch", "2.13.0+cu13").has_value());
  EXPECT_FALSE(find_build(packages, "jax", "1").has_value());
}

TEST(Lock, exact_pins_change_the_operator_of_pins_alone) {
  EXPECT_EQ(with_exact_pins(kLock),
            "# written by a program\n"
            "Sci_Py===1.17.1 ; python_full_version < '3.12' \\\n    --hash=sha256:0123 \\\n    --hash=sha256:4567\n"
            "scipy===1.18.1 ; python_full_version >= '3.12' --hash=sha256:89ab\n"
            "torch===2.13.0+cpu \\\n    --hash=sha256:cdef\n"
            "range==1,<2\nfamily==1.*\nexact===3\nbare\n");
  EXPECT_EQ(with_exact_pins("a[b] == 1 ; python_version == '3'"), "a[b] === 1 ; python_version == '3'");
  EXPECT_EQ(with_exact_pins(""), "");
}

TEST(Lock, it_is_beside_its_requirements) {
  EXPECT_EQ(lock_name("requirements.txt"), "requirements.lock");
  EXPECT_EQ(lock_name("needs/pip.in"), "needs/pip.lock");
}

TEST(Requirements, a_listed_package_is_found_by_its_name) {
  const std::vector<std::string> packages{"numpy==2.0", "Typing_Extensions==4.1", "local @ file:///x"};
  EXPECT_EQ(listed_release(packages, "typing-extensions"), "4.1");
  EXPECT_FALSE(listed_release(packages, "local").has_value());
}

}  // namespace
}  // namespace assay::plan
