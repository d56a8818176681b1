#include "assay/measure/rank/gang.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <set>

#include "assay/core/clock.hpp"
#include "assay/measure/rank/session.hpp"

namespace assay::measure {
namespace {

constexpr double kLimitSeconds = 20;

/// A folder for the meeting, and ranks as processes of their own, each ending with what its body returns.
class GangTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / ("gang_test_" + std::to_string(getpid()));
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override {
    for (const pid_t pid : started_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    std::filesystem::remove_all(directory_);
  }

  pid_t start(std::int64_t rank, std::int64_t ranks, const std::function<int(Gang&)>& body,
              const std::string& token = "secret") {
    const pid_t pid = fork();
    if (pid == 0) {
      int code = 99;
      try {
        Gang gang({token, true, {}}, directory_, rank, ranks);
        code = body(gang);
      } catch (const WorkerFailure& failure) {
        code = 100 + static_cast<int>(failure.outcome.kind);
      } catch (const std::exception&) {
      }
      _exit(code);
    }
    started_.insert(pid);
    return pid;
  }

  int end_of(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    started_.erase(pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::filesystem::path directory_;
  std::set<pid_t> started_;
};

void no_tick() {}

int failed_with(OutcomeKind kind) {
  return 100 + static_cast<int>(kind);
}

/// Waits for the others until something ends it.
int wait_for_the_end(Gang& gang) {
  gang.meet(kLimitSeconds, no_tick);
  for (const auto end = monotonic_ns() + 30'000'000'000; monotonic_ns() < end;) {
    gang.attend();
    sleep_until_ns(monotonic_ns() + 10'000'000);
  }
  return 1;
}

TEST_F(GangTest, AllLearnTheSameAddressesAndFollowRankZero) {
  constexpr std::int64_t kRanks = 4;
  const auto body = [](std::int64_t rank) {
    return [rank](Gang& gang) {
      const auto peers = gang.meet(kLimitSeconds, no_tick);
      if (std::set<std::string>(peers.begin(), peers.end()).size() != kRanks) return 1;
      gang.barrier(no_tick);
      gang.barrier(no_tick);
      std::int64_t steps = 0;
      if (rank == 0) {
        gang.lead({"step", 3, true});
        gang.lead({"step", 4, false});
        gang.lead({});
        steps = 7;
      } else {
        for (auto turn = gang.follow(no_tick); !turn.detail.empty(); turn = gang.follow(no_tick)) {
          if (turn.warmup != (turn.samples == 3)) return 2;
          steps += turn.samples;
        }
      }
      gang.leave();
      return steps == 7 ? 0 : 3;
    };
  };
  std::vector<pid_t> pids;
  for (std::int64_t rank = 0; rank < kRanks; ++rank) pids.push_back(start(rank, kRanks, body(rank)));
  for (const pid_t pid : pids) EXPECT_EQ(end_of(pid), 0);
}

TEST_F(GangTest, ARankThatIsKilledEndsTheOthers) {
  const pid_t zero = start(0, 3, wait_for_the_end);
  const pid_t one = start(1, 3, wait_for_the_end);
  const pid_t two = start(2, 3, [](Gang& gang) {
    gang.meet(kLimitSeconds, no_tick);
    return 0;  // gone, and no word of leaving
  });
  EXPECT_EQ(end_of(two), 0);
  EXPECT_EQ(end_of(zero), failed_with(OutcomeKind::interrupted));
  EXPECT_EQ(end_of(one), failed_with(OutcomeKind::interrupted));
}

TEST_F(GangTest, ARankThatIsStoppedIsMissedWithinSeconds) {
  const pid_t zero = start(0, 2, wait_for_the_end);
  const pid_t one = start(1, 2, [](Gang& gang) {
    gang.meet(kLimitSeconds, no_tick);
    raise(SIGSTOP);
    return 0;
  });
  const std::int64_t begin = monotonic_ns();
  EXPECT_EQ(end_of(zero), failed_with(OutcomeKind::timed_out));
  EXPECT_LT(monotonic_ns() - begin, 15'000'000'000);
  kill(one, SIGKILL);
  EXPECT_EQ(end_of(one), -SIGKILL);
}

TEST_F(GangTest, AFailureReachesAllWithItsMessage) {
  const pid_t zero = start(0, 3, wait_for_the_end);
  const pid_t one = start(1, 3, [](Gang& gang) {
    try {
      return wait_for_the_end(gang);
    } catch (const WorkerFailure& failure) {
      return failure.outcome.message.find("because of rank 2: out of luck") != std::string::npos ? 0 : 4;
    }
  });
  const pid_t two = start(2, 3, [](Gang& gang) {
    gang.meet(kLimitSeconds, no_tick);
    gang.fail("out of luck");
    return 0;
  });
  EXPECT_EQ(end_of(two), 0);
  EXPECT_EQ(end_of(zero), failed_with(OutcomeKind::interrupted));
  EXPECT_EQ(end_of(one), 0);
}

TEST_F(GangTest, NobodyJoinsWithoutTheToken) {
  const pid_t zero = start(0, 2, [](Gang& gang) {
    gang.meet(0.5, no_tick);
    return 0;
  });
  const pid_t stranger = start(1, 2, wait_for_the_end, "guessed");
  EXPECT_EQ(end_of(zero), failed_with(OutcomeKind::timed_out));
  EXPECT_EQ(end_of(stranger), failed_with(OutcomeKind::interrupted));
}

TEST(Address, AnUnknownDeviceIsNamedWithWhatThereIs) {
  try {
    address_on("no_such_device");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("no_such_device"), testing::HasSubstr("lo (127.0.0.1)")));
  }
}

}  // namespace
}  // namespace assay::measure
