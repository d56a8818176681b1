#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "assay/store/run_queue.hpp"

namespace assay::store {

/// Results that are finished on this host and that no store has acknowledged yet. A folder with one file for each
/// claim, which agents of one user share, and from which any of them delivers.
class Spool {
 public:
  /// Makes the folder at the first result. Where `place` is a file, it is the spool of Assay 0.1: what it holds is
  /// taken over by take_over(), and the folder is beside it.
  explicit Spool(const std::filesystem::path& place);

  struct Result {
    std::string store;  ///< uuid of the store that the lease came from
    Lease lease;        ///< without trials and how they are measured
    std::vector<Finished> finished;
  };

  /// On the disk when it returns. Throws FileError.
  void keep(const std::string& store, const Lease& lease, const std::vector<Finished>& finished);
  void forget(const std::string& store, const std::string& claim);

  /// Claims whose results wait for this store, or for others.
  std::vector<std::string> waiting_for(const std::string& store) const;
  std::int64_t waiting_for_others(const std::string& store) const;
  /// Throws Error{bad_input} where the file is not a result.
  Result read(const std::string& store, const std::string& claim) const;

  /// Takes over what Assay 0.1 has left in its spool, as results of `store`.
  void take_over(const std::string& store);

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path file_of(const std::string& store, const std::string& claim) const;
  void write(const std::string& store, const std::string& claim, const json& result);

  std::filesystem::path folder_;
  std::filesystem::path old_;  ///< spool of Assay 0.1, which may not be there
};

/// A queue as an agent uses it. A finished result is in the spool before the store is asked, and leaves it when the
/// store has acknowledged it or has proved it stale. The claim sees to it that it counts once, however often it is
/// delivered.
class SpooledQueue : public RunQueue {
 public:
  SpooledQueue(RunQueue& queue, const std::filesystem::path& spool);

  /// Brings the store what the spool holds for it; how many results it took. Throws where the store cannot be used: the
  /// rest stays.
  std::int64_t deliver();
  /// Results that wait for this store.
  std::int64_t waiting();
  /// Writes what neither the disk nor the store has taken into the first of these folders that can be written, as a
  /// spool of its own. For an agent that ends: what is in memory only is lost with it.
  void rescue(const std::vector<std::filesystem::path>& folders);
  /// Where finished results wait and what delivers them, for a message; empty where none do.
  std::string note();

  std::string uuid() override;
  /// Delivers first, so that a run that is finished here is not given away.
  [[nodiscard]] std::optional<Lease> lease(const LeaseRequest& request) override;
  [[nodiscard]] Renewal renew(const Lease& lease, double seconds) override { return queue_.renew(lease, seconds); }
  /// `kept` where the store cannot be used now. Throws where it never will take the result, which stays in the spool,
  /// or in memory where the spool cannot be written.
  [[nodiscard]] Completion complete(const Lease& lease, const std::vector<Finished>& finished) override;
  /// Where the store cannot be used, the lease is left to run out.
  void release(const Lease& lease) override;
  void put_platform(const std::string& id, const json& platform) override { queue_.put_platform(id, platform); }
  std::vector<CampaignRow> campaigns() override { return queue_.campaigns(); }
  Progress progress(const std::string& campaign) override { return queue_.progress(campaign); }

 private:
  /// A result that neither the disk nor the store has taken.
  struct Unsaved {
    Lease lease;
    std::vector<Finished> finished;
  };
  bool keep(const Lease& lease, const std::vector<Finished>& finished);
  std::int64_t deliver_unsaved();

  RunQueue& queue_;
  Spool spool_;
  std::string uuid_;               ///< of the store, once it answered
  bool pending_ = true;            ///< the spool may hold results
  std::set<std::string> refused_;  ///< claims whose results the store does not take; they stay in the spool
  std::vector<Unsaved> unsaved_;
  std::size_t rescued_ = 0;  ///< results
  std::filesystem::path rescued_to_;
};

/// Whether the store may do later what it did not do now.
bool may_pass(const Error& error);

}  // namespace assay::store
