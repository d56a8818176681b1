#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/store/store.hpp"
#include "bench/programs/claims_oracle.hpp"

namespace assay::bench {

constexpr std::size_t kAgents = 3;

/// A real store that can be put back, and whose clock is ours.
class Place {
 public:
  virtual ~Place() = default;

  virtual store::Store& store(std::size_t agent) = 0;  ///< as this agent reaches it

  virtual void empty() = 0;    ///< as it was made
  virtual void save() = 0;     ///< as an administrator's backup does
  virtual void restore() = 0;  ///< to the last save()
  virtual const Clock& clock() const = 0;
  virtual void set(const Clock& clock) = 0;
  virtual std::vector<StoredRow> runs(const std::string& campaign) = 0;
  virtual std::vector<StoredRow> records(const std::string& campaign) = 0;
  /// Whether a lease does not end until the server is up for its length.
  virtual bool lasting() const = 0;
};

/// A file `folder`/assay.db. It is copied back while nobody has it open. Agents share a connection: to make one takes
/// longer than all that a schedule does.
std::unique_ptr<Place> sqlite_place(const std::filesystem::path& folder);

/// The schema `assay` of a database that is ours alone. Its functions are the real ones, but that they ask a table for
/// the time and for when the server was started.
std::unique_ptr<Place> postgres_place(const std::string& url);

}  // namespace assay::bench
