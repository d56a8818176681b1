#include "assay/vet/package_changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/core/error.hpp"

namespace assay::vet {
namespace {

TEST(PackageChanges, APackageMayBeKnownByAnotherName) {
  const auto other = other_name("vllm=={release}+cpu", "0.32.0");
  EXPECT_EQ(other.name, "vllm");
  EXPECT_EQ(other.release, "0.32.0+cpu");
}

TEST(PackageChanges, WhatIsNotANameAndAReleaseIsRefused) {
  for (const char* wrong : {"", "vllm", "vllm==", "==1", "../x==1", "-r==1", "vllm==1/2", "vllm==1 2", "vllm+cpu==1"}) {
    EXPECT_THROW((void)other_name(wrong, "1"), Error) << wrong;
  }
}

}  // namespace
}  // namespace assay::vet
