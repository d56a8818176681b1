#include "workers/mpi/algorithm.hpp"

#include <gmock/gmock.h>

#include "workers/common/worker.hpp"

namespace assay::mpi {
namespace {

TEST(Algorithm, TheFirstLeavesItToOpenMpi) {
  EXPECT_EQ(algorithms_of(Collective::all_reduce).front(), "default");
  EXPECT_NO_THROW(check_algorithm(Collective::all_gather, "default", 1));
}

TEST(Algorithm, APingPongHasNone) {
  EXPECT_TRUE(algorithms_of(Collective::ping_pong).empty());
}

TEST(Algorithm, OneThatWouldBeReplacedIsRefused) {
  EXPECT_THROW(check_algorithm(Collective::all_reduce, "ring", 1), worker::Refused);
  EXPECT_THROW(check_algorithm(Collective::all_gather, "recursive_doubling", 6), worker::Refused);
  EXPECT_THROW(check_algorithm(Collective::all_gather, "neighbor", 3), worker::Refused);
  EXPECT_NO_THROW(check_algorithm(Collective::all_gather, "recursive_doubling", 8));
  EXPECT_NO_THROW(check_algorithm(Collective::all_gather, "neighbor", 6));
  EXPECT_NO_THROW(check_algorithm(Collective::all_reduce, "recursive_doubling", 6));
}

}  // namespace
}  // namespace assay::mpi
