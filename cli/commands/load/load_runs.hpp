#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/load/load.hpp"
#include "assay/load/recording.hpp"
#include "assay/load/server/started_server.hpp"
#include "assay/measure/agent/host_lock.hpp"
#include "assay/store/spool.hpp"
#include "cli/flags/work.hpp"

namespace assay::cli {

/// How runs of `assay load` are kept, and what serves them.
struct LoadRunFlags {
  WorkFlags work;      ///< store, spool and host lock alone
  std::string name;    ///< of the campaign; empty: load
  std::string server;  ///< NAME or NAME==RELEASE of the server's program
  std::string start;   ///< command line of a server that Assay starts
  std::string start_limit = "10m";
  std::int64_t runs = 1;  ///< of each rate
  bool certify = true;
};

/// Measures rates or searches one, and leaves each run in the store.
class LoadRuns {
 public:
  /// `url` is the server's without what follows a ?.
  LoadRuns(const LoadRunFlags& flags, const load::LoadQuestion& question, const std::string& url, bool quiet);

  /// Each rate as often as asked for; the points are left in `result`. Empty rates: as `question` says.
  void measure_rates(const std::vector<double>& rates, load::LoadResult& result);

  /// A server that Assay starts stays for all runs of the search.
  void search(const load::RateQuestion& rates, double most_seconds, load::LoadResult& result);

  bool stopped() const { return stopped_; }  ///< by a signal, within a run
  const std::vector<load::Request>& last_requests() const { return requests_; }

 private:
  plan::Campaign campaign_of(std::vector<Trial> trials, std::optional<std::string> grows) const;
  std::unique_ptr<load::StartedServer> started() const;
  /// Null where it was stopped.
  std::optional<load::LoadPoint> measure(load::Recorder& recorder, const store::Lease& lease,
                                         load::LoadQuestion question, bool certify, load::LoadResult& result);

  LoadRunFlags flags_;
  load::LoadQuestion question_;
  load::NamedServer server_;
  bool quiet_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::SpooledQueue> queue_;
  measure::HostLock lock_;
  std::unique_ptr<load::StartedServer> kept_;  ///< of a search
  std::vector<load::Request> requests_;
  bool stopped_ = false;
};

}  // namespace assay::cli
