#include "workers/blas/product.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "workers/common/worker.hpp"

namespace assay::blas {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Sizes = std::vector<std::int64_t>;
using Values = std::vector<float>;

const std::filesystem::path kFixtures = ASSAY_BLAS_FIXTURES;

Library opened(const std::string& asked) {
  return Library::open(asked, ASSAY_BLAS_WORKER);
}

std::string fixture(const std::string& name) {
  return (kFixtures / ("blas_" + name + ".so")).string();
}

Workload workload(const std::string& network, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
  Workload out;
  out.network = network;
  out.batch = batch;
  out.options = {{"m", m}, {"n", n}, {"k", k}};
  return out;
}

/// Whole numbers from -3 to 3, which differ by name and place; sums of them are exact.
Values whole(const std::string& name, const Sizes& shape) {
  std::size_t count = 1;
  for (const auto size : shape) count *= static_cast<std::size_t>(size);
  Values values(count);
  std::size_t state = std::hash<std::string>{}(name);
  for (auto& value : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = std::floor(static_cast<float>(state >> 33U) / static_cast<float>(1U << 31U) * 7 - 3);
  }
  return values;
}

/// a b as four loops.
Values multiplied(const Shape& shape) {
  const auto batch = static_cast<std::size_t>(shape.batch), m = static_cast<std::size_t>(shape.m);
  const auto n = static_cast<std::size_t>(shape.n), k = static_cast<std::size_t>(shape.k);
  const auto a = whole("a", {shape.batch, shape.m, shape.k}), b = whole("b", {shape.batch, shape.k, shape.n});
  Values c(batch * m * n);
  for (std::size_t s = 0; s < batch; ++s)
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < k; ++l) c[(s * m + i) * n + j] += a[(s * m + i) * k + l] * b[(s * k + l) * n + j];
  return c;
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const worker::Refused& refused) {
    return refused.what();
  }
}

class Libraries : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto reason = refusal([&] { opened(GetParam()); });
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_P(Libraries, MultiplyAsPlainLoops) {
  const auto library = opened(GetParam());
  for (const auto& shape : {Shape{1, 1, 1, 1}, Shape{1, 5, 7, 33}, Shape{1, 64, 1, 200}, Shape{1, 129, 65, 31},
                            Shape{4, 5, 7, 3}, Shape{3, 40, 50, 60}}) {
    Product product(library, shape, whole);
    product.run();
    product.run();  // must give the same again
    EXPECT_EQ(product.result(), multiplied(shape)) << shape.batch << " x " << shape.m << " x " << shape.n;
    EXPECT_NO_THROW(product.check());
  }
  EXPECT_NO_THROW(check_small_product(library));
}

TEST_P(Libraries, SayWhatTheyAre) {
  const auto library = opened(GetParam());
  EXPECT_EQ(library.name(), GetParam());
  EXPECT_THAT(library.release(), testing::MatchesRegex("[0-9]+\\.[0-9]+.*"));
  for (const int threads : {2, 1}) {
    library.set_threads(threads);
    EXPECT_EQ(library.threads(), threads);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Libraries, testing::Values("eigen", "openblas", "blis", "mkl"),
                         [](const auto& tested) { return tested.param; });

TEST(Library, AFileOfTheUsersOwnIsLoadedByItsPath) {
  const auto library = opened(fixture("plain"));
  Product product(library, {2, 9, 8, 7}, whole);
  product.run();
  EXPECT_EQ(product.result(), multiplied({2, 9, 8, 7}));
  EXPECT_NO_THROW(product.check());
  EXPECT_NO_THROW(check_small_product(library));
  EXPECT_EQ(library.release(), "blas_plain.so");
  EXPECT_EQ(library.threads(), std::nullopt);
  EXPECT_THAT(refusal([&] { library.set_threads(2); }), AllOf(HasSubstr("intra_op 2"), HasSubstr("blas_plain.so")));
}

// The planted mistake: the last of k is left out.
TEST(Library, AWrongProductIsRefused) {
  const auto library = opened(fixture("forgetful"));
  EXPECT_THAT(refusal([&] { check_small_product(library); }), HasSubstr("its product is wrong"));
  Product product(library, {1, 20, 30, 40}, whole);
  product.run();
  EXPECT_THAT(refusal([&] { product.check(); }), AllOf(HasSubstr("forgetful"), HasSubstr("its product is wrong")));
}

// Only the last place of the last matrix is wrong: 64 places over 3 x 2 x 2 are all of them.
TEST(Library, AWrongValueOfTheLastMatrixIsSeen) {
  Product last(opened(fixture("forgetful")), {3, 2, 2, 4}, [](const std::string&, const Sizes& shape) {
    Values values(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]), 0.0F);
    values.back() = 1;  // the last of k in the last row and column: what the library leaves out, and nothing else
    return values;
  });
  last.run();
  EXPECT_THAT(refusal([&] { last.check(); }), HasSubstr("row 1, column 1 of matrix 2, where plain sums give 1."));
}

TEST(Library, WhatCannotBeLoadedIsRefusedWithTheReason) {
  EXPECT_THAT(refusal([] { opened("banana"); }), HasSubstr("'banana': there is eigen, openblas, blis, mkl, or a file"));
  EXPECT_THAT(refusal([] { opened("/nowhere/libcblas.so"); }), HasSubstr("No such file"));
  EXPECT_THAT(refusal([] { opened(fixture("empty")); }), HasSubstr("has no function cblas_sgemm"));
  EXPECT_THAT(refusal([] { Library::open("eigen", "/nowhere"); }), HasSubstr("Install it: cmake --build"));
}

TEST(Library, WorkloadsThatAreNotItsOwnAreRefusedByName) {
  EXPECT_THAT(refusal([] { shape_of(workload("conv2d", 1, 1, 1)); }), HasSubstr("only gemm and batched_gemm"));
  EXPECT_THAT(refusal([] { shape_of(workload("gemm", 0, 1, 1)); }), HasSubstr("'m'"));
  EXPECT_THAT(refusal([] { shape_of(workload("gemm", 1, 1, 1, 2)); }), HasSubstr("batch 2"));
  EXPECT_THAT(refusal([] { shape_of(workload("gemm", std::int64_t{1} << 31, 1, 1)); }), HasSubstr("m 2147483648"));
  auto lower = workload("gemm", 1, 1, 1);
  lower.precision = "bf16";
  EXPECT_THAT(refusal([&] { shape_of(lower); }), HasSubstr("'bf16': gemm has only fp32"));
}

}  // namespace
}  // namespace assay::blas
