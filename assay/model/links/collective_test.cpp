#include "assay/model/links/collective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::model {
namespace {

using Algorithm = CollectiveAlgorithm;

constexpr Link kLink{5e-6, 2e-10, 7e-11};

/// Ranks that send each other blocks, message by message. Each block knows whose contributions it holds, so that a
/// wrong exchange shows, and each rank has a clock: a message costs alpha + n beta, and n gamma to add it up.
class Ranks {
 public:
  Ranks(std::size_t ranks, double bytes)
      : block_bytes_(bytes / static_cast<double>(ranks)), clocks_(ranks, 0), blocks_(ranks) {
    for (std::size_t rank = 0; rank < ranks; ++rank) blocks_[rank].assign(ranks, std::uint64_t{1} << rank);
  }

  struct Message {
    std::size_t from;
    std::size_t to;
    std::size_t first;  ///< block
    std::size_t count;
    bool add = false;
  };

  /// Messages that are under way at once. Both directions of a link are free at the same time.
  void round(const std::vector<Message>& messages) {
    const auto clocks = clocks_;
    const auto blocks = blocks_;
    for (const auto& m : messages) {
      const double bytes = static_cast<double>(m.count) * block_bytes_;
      const double arrived =
          std::max(clocks[m.from], clocks[m.to]) + kLink.alpha_seconds + bytes * kLink.beta_seconds_per_byte;
      clocks_[m.from] = std::max(clocks_[m.from], arrived);
      clocks_[m.to] = std::max(clocks_[m.to], arrived + (m.add ? bytes * kLink.gamma_seconds_per_byte : 0));
      for (std::size_t i = m.first; i < m.first + m.count; ++i) {
        if (m.add) {
          EXPECT_EQ(blocks[m.to][i] & blocks[m.from][i], 0u) << "counted twice";
        }
        blocks_[m.to][i] = m.add ? blocks[m.to][i] | blocks[m.from][i] : blocks[m.from][i];
      }
    }
  }

  std::size_t count() const { return clocks_.size(); }
  double seconds() const { return *std::max_element(clocks_.begin(), clocks_.end()); }
  bool has_sum(std::size_t rank, std::size_t block) const {
    return blocks_[rank][block] == (std::uint64_t{1} << count()) - 1;
  }
  bool all_have_all() const {
    for (std::size_t rank = 0; rank < count(); ++rank) {
      for (std::size_t block = 0; block < count(); ++block) {
        if (!has_sum(rank, block)) return false;
      }
    }
    return true;
  }

 private:
  double block_bytes_;
  std::vector<double> clocks_;
  std::vector<std::vector<std::uint64_t>> blocks_;
};

/// Block (r - step) of rank r goes to the right, and is added up there.
void reduce_scatter_by_ring(Ranks& ranks) {
  const auto p = ranks.count();
  for (std::size_t step = 0; step + 1 < p; ++step) {
    std::vector<Ranks::Message> messages;
    for (std::size_t r = 0; r < p; ++r) messages.push_back({r, (r + 1) % p, (r + p - step) % p, 1, true});
    ranks.round(messages);
  }
}

void all_gather_by_ring(Ranks& ranks) {
  const auto p = ranks.count();
  for (std::size_t step = 0; step + 1 < p; ++step) {
    std::vector<Ranks::Message> messages;
    for (std::size_t r = 0; r < p; ++r) messages.push_back({r, (r + 1) % p, (r + 1 + p - step) % p, 1});
    ranks.round(messages);
  }
}

std::size_t power_within(std::size_t p) {
  std::size_t power = 1;
  while (2 * power <= p) power *= 2;
  return power;
}

/// Ranks beyond the largest power of two add what they have to others, and get the result at the end.
void fold_surplus(Ranks& ranks, bool add) {
  const auto full = power_within(ranks.count());
  std::vector<Ranks::Message> messages;
  for (std::size_t r = full; r < ranks.count(); ++r) {
    messages.push_back(add ? Ranks::Message{r, r - full, 0, ranks.count(), true}
                           : Ranks::Message{r - full, r, 0, ranks.count(), false});
  }
  ranks.round(messages);
}

void all_reduce_by_recursive_doubling(Ranks& ranks) {
  fold_surplus(ranks, true);
  for (std::size_t distance = 1; distance < power_within(ranks.count()); distance *= 2) {
    std::vector<Ranks::Message> messages;
    for (std::size_t r = 0; r < power_within(ranks.count()); ++r) {
      messages.push_back({r, r ^ distance, 0, ranks.count(), true});
    }
    ranks.round(messages);
  }
  fold_surplus(ranks, false);
}

/// Only for a power of two: in each round a rank gives its partner the half of its range that the partner keeps.
void all_reduce_by_halving_doubling(Ranks& ranks) {
  const auto p = ranks.count();
  for (std::size_t distance = p / 2; distance > 0; distance /= 2) {
    std::vector<Ranks::Message> messages;
    for (std::size_t r = 0; r < p; ++r) {
      const auto partner = r ^ distance;
      messages.push_back({r, partner, partner / distance * distance, distance, true});
    }
    ranks.round(messages);
  }
  for (std::size_t r = 0; r < p; ++r) EXPECT_TRUE(ranks.has_sum(r, r));
  for (std::size_t distance = 1; distance < p; distance *= 2) {
    std::vector<Ranks::Message> messages;
    for (std::size_t r = 0; r < p; ++r) messages.push_back({r, r ^ distance, r / distance * distance, distance});
    ranks.round(messages);
  }
}

constexpr double kBytes = 5040 * 64;  // which every number of ranks below divides

TEST(Collective, ARingCostsWhatItsMessagesCost) {
  for (const std::size_t p : {2, 3, 4, 6, 7, 16}) {
    const auto count = static_cast<std::int64_t>(p);
    Ranks ranks(p, kBytes);
    reduce_scatter_by_ring(ranks);
    EXPECT_NEAR(ranks.seconds() / seconds(Collective::reduce_scatter, Algorithm::ring, kLink, kBytes, count), 1, 1e-12);
    const double half = ranks.seconds();
    all_gather_by_ring(ranks);
    EXPECT_TRUE(ranks.all_have_all());
    EXPECT_NEAR(ranks.seconds() / seconds(Collective::all_reduce, Algorithm::ring, kLink, kBytes, count), 1, 1e-12);
    EXPECT_NEAR((ranks.seconds() - half) / seconds(Collective::all_gather, Algorithm::ring, kLink, kBytes, count), 1,
                1e-9);
  }
}

TEST(Collective, RecursiveDoublingCostsWhatItsMessagesCostAlsoWithSurplusRanks) {
  for (const std::size_t p : {2, 3, 4, 5, 6, 7, 8, 12, 16}) {
    Ranks ranks(p, kBytes);
    all_reduce_by_recursive_doubling(ranks);
    EXPECT_TRUE(ranks.all_have_all());
    const auto expected =
        seconds(Collective::all_reduce, Algorithm::recursive_doubling, kLink, kBytes, static_cast<std::int64_t>(p));
    EXPECT_NEAR(ranks.seconds() / expected, 1, 1e-12) << p;
  }
}

TEST(Collective, HalvingAndDoublingCostsWhatItsMessagesCost) {
  for (const std::size_t p : {2, 4, 8, 16}) {
    Ranks ranks(p, kBytes);
    all_reduce_by_halving_doubling(ranks);
    EXPECT_TRUE(ranks.all_have_all());
    const auto expected =
        seconds(Collective::all_reduce, Algorithm::halving_doubling, kLink, kBytes, static_cast<std::int64_t>(p));
    EXPECT_NEAR(ranks.seconds() / expected, 1, 1e-12) << p;
  }
}

TEST(Collective, SurplusRanksGiveAndGetTheWholeBuffer) {
  // Halving and doubling over 4 of 5 ranks, and one message of n there and one back, of which the first is added up.
  const auto four = seconds(Collective::all_reduce, Algorithm::halving_doubling, kLink, kBytes, 4);
  const auto message = kLink.alpha_seconds + kBytes * kLink.beta_seconds_per_byte;
  EXPECT_NEAR(seconds(Collective::all_reduce, Algorithm::halving_doubling, kLink, kBytes, 5),
              four + 2 * message + kBytes * kLink.gamma_seconds_per_byte, 1e-15);
}

/// Bruck's all_to_all: a part for distance d travels once for each bit of d, together with all others of that bit.
TEST(Collective, BrucksRoundsCarryThePartsWhoseDistanceHasTheBit) {
  for (const std::int64_t p : {2, 3, 4, 5, 8, 11, 16}) {
    double sum = 0;
    for (std::int64_t bit = 1; bit < p; bit *= 2) {
      double parts = 0;
      for (std::int64_t distance = 0; distance < p; ++distance) parts += (distance & bit) != 0 ? 1 : 0;
      sum += kLink.alpha_seconds + parts * kBytes / static_cast<double>(p) * kLink.beta_seconds_per_byte;
    }
    EXPECT_NEAR(seconds(Collective::all_to_all, Algorithm::bruck, kLink, kBytes, p) / sum, 1, 1e-12) << p;
  }
}

/// In each round everyone who has the buffer gives it to one who has not.
TEST(Collective, ABinomialTreeDoublesThoseWhoHaveIt) {
  for (const std::int64_t p : {2, 3, 4, 5, 9, 16}) {
    double time = 0;
    for (std::int64_t have = 1; have < p; have *= 2) time += kLink.alpha_seconds + kBytes * kLink.beta_seconds_per_byte;
    EXPECT_NEAR(seconds(Collective::broadcast, Algorithm::binomial_tree, kLink, kBytes, p) / time, 1, 1e-12) << p;
  }
}

TEST(Collective, OneRankCostsNothingAndTwoAreOneMessage) {
  for (const auto collective : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                Collective::all_to_all, Collective::broadcast}) {
    for (const auto algorithm : algorithms_of(collective)) {
      EXPECT_EQ(seconds(collective, algorithm, kLink, kBytes, 1), 0) << name_of(collective) << name_of(algorithm);
    }
  }
  // To and fro: alpha + n beta each way.
  EXPECT_DOUBLE_EQ(seconds(Collective::ping_pong, Algorithm::direct, {3, 2, 9}, 5, 2), 26);
}

TEST(Collective, TheHierarchyIsARingInsideAndRingsAcross) {
  // 4 ranks on each of 3 nodes, alpha 1 and beta 1 inside, 10 and 100 across, 12 bytes:
  // inside 2 * 3 * 1 + 2 * 3/4 * 12 * 1 = 24; across 2 * 2 * 10 + 2 * 2/3 * 3 * 100 = 440, and with one link for the
  // four 40 + 4 * 400 = 1640.
  Nodes nodes{{1, 1, 5}, {10, 100, 5}, 3, 4, false};
  EXPECT_DOUBLE_EQ(hierarchical_all_reduce_seconds(nodes, 12), 464);
  nodes.shared_nic = true;
  EXPECT_DOUBLE_EQ(hierarchical_all_reduce_seconds(nodes, 12), 1664);
}

}  // namespace
}  // namespace assay::model
