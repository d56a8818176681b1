// An agent that does nothing but take and finish runs until its power is cut, and a look at what the cut has left.
//   power drive LOCATION SPOOL PROMISES FIRST HELD | power look LOCATION SPOOL
// `drive` finishes the numbers from FIRST on, and writes each to the file PROMISES when the store or the spool has
// promised to keep it. With HELD above 0 the store is away for so many results, which are then delivered together.
// `look` delivers what the spool holds and prints one line of JSON.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "assay/store/spool.hpp"
#include "assay/store/store.hpp"

namespace assay::bench {
namespace {

using store::Completion;

constexpr std::int64_t kRunsOfCampaign = 200;
constexpr std::size_t kSamples = 50;

/// A store that is away when a result is finished, as often as it is told to be.
class Fickle : public store::RunQueue {
 public:
  explicit Fickle(store::Store& real) : real_(real) {}

  bool away = false;

  std::string uuid() override { return real_.uuid(); }
  std::optional<store::Lease> lease(const store::LeaseRequest& request) override { return real_.lease(request); }
  store::Renewal renew(const store::Lease& lease, double seconds) override { return real_.renew(lease, seconds); }
  Completion complete(const store::Lease& lease, const std::vector<store::Finished>& finished) override {
    if (away) fail(ErrorKind::away, "the store is away");
    return real_.complete(lease, finished);
  }
  void release(const store::Lease& lease) override { real_.release(lease); }
  void put_platform(const std::string& id, const json& platform) override { real_.put_platform(id, platform); }
  std::vector<store::CampaignRow> campaigns() override { return real_.campaigns(); }
  store::Progress progress(const std::string& campaign) override { return real_.progress(campaign); }

 private:
  store::Store& real_;
};

plan::Campaign campaign_of(std::int64_t first) {
  plan::Campaign campaign;
  campaign.name = fmt::format("from {}", first);
  campaign.runs = kRunsOfCampaign;
  Trial trial;
  trial.workload.network = "toy";
  trial.worker = {"fake", "1.0.0"};
  campaign.trials.push_back(trial);
  return campaign;
}

std::vector<store::Finished> measured(const store::Lease& lease, std::int64_t number) {
  const auto& run = lease.runs.at(0);
  Record record;
  record.campaign = lease.campaign;
  record.trial = run.trial_id;
  record.index = run.index;
  record.attempt = run.attempt;
  record.platform = "p";
  record.started_utc = "2026-01-02T03:04:05.678Z";
  record.assay_version = "0";
  record.duration_ns = number;
  RankResult rank;
  rank.samples_ns.assign(kSamples, number);
  record.ranks = {rank};
  return {{record, false}};
}

class Driver {
 public:
  Driver(const std::string& location, const std::string& spool, const std::string& promises, std::int64_t first,
         std::int64_t held)
      : real_(store::open_store(location, store::Access::create)),
        fickle_(*real_),
        queue_(fickle_, spool),
        promises_(open(promises.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)),
        number_(first),
        held_(held) {
    ASSAY_CHECK(promises_ >= 0);
  }

  [[noreturn]] void go() {
    while (true) {
      std::vector<store::Lease> leases;
      for (std::int64_t i = 0; i < std::max<std::int64_t>(held_, 1); ++i) leases.push_back(next());
      fickle_.away = held_ > 0;
      for (const auto& lease : leases) finish(lease);
      fickle_.away = false;
    }
  }

 private:
  store::Lease next() {
    store::LeaseRequest request;
    request.campaign = campaign_;
    request.owner = {"host", "boot", 1, 5, "pid:[1]"};
    request.seconds = 3600;
    if (!campaign_.empty()) {
      if (auto lease = queue_.lease(request)) return *lease;
    }
    request.campaign = campaign_ = real_->plan(campaign_of(number_), false).campaign;
    auto lease = queue_.lease(request);
    ASSAY_CHECK(lease);
    return *lease;
  }

  void finish(const store::Lease& lease) {
    const auto answer = queue_.complete(lease, measured(lease, number_));
    ASSAY_CHECK(answer == (held_ > 0 ? Completion::kept : Completion::accepted));
    const auto line = fmt::format("{}\n", number_);
    ASSAY_CHECK(write(promises_, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    ++number_;
  }

  std::unique_ptr<store::Store> real_;
  Fickle fickle_;
  store::SpooledQueue queue_;
  int promises_;
  std::string campaign_;
  std::int64_t number_;
  std::int64_t held_;
};

/// Prints the numbers that are stored, those stored more than once, how many the spool delivered, and what is wrong.
int look(const std::string& location, const std::string& spool) {
  const auto real = store::open_store(location, store::Access::write);
  store::SpooledQueue queue(*real, spool);
  const auto delivered = queue.deliver();
  std::map<std::int64_t, int> found;
  real->records({}, [&](const Record& record) {
    const std::vector<std::int64_t> whole(kSamples, record.duration_ns);
    if (record.ranks.size() == 1 && record.ranks[0].samples_ns == whole) ++found[record.duration_ns];
  });
  json numbers = json::array();
  json twice = json::array();
  for (const auto& [number, times] : found) {
    numbers.push_back(number);
    if (times > 1) twice.push_back(number);
  }
  std::cout << json{{"numbers", numbers},
                    {"twice", twice},
                    {"delivered", delivered},
                    {"waiting", queue.waiting()},
                    {"findings", real->verify().findings.size()}}
                   .dump()
            << '\n';
  return 0;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 6 && words[0] == "drive")
      assay::bench::Driver(words[1], words[2], words[3], std::stoll(words[4]), std::stoll(words[5])).go();
    if (words.size() == 3 && words[0] == "look") return assay::bench::look(words[1], words[2]);
  } catch (const std::exception& error) {
    std::cerr << "power: " << error.what() << '\n';
    return 1;
  }
  std::cerr << "power drive LOCATION SPOOL PROMISES FIRST HELD | power look LOCATION SPOOL\n";
  return 2;
}
