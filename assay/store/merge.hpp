#pragma once

#include <cstdint>
#include <string>

namespace assay::store {

/// What merging has brought into a store.
struct Merged {
  std::string uuid;            ///< of the store that it came from
  std::int64_t campaigns = 0;  ///< new ones, and so for all that follows
  std::int64_t trials = 0;
  std::int64_t runs = 0;
  std::int64_t records = 0;
  std::int64_t set_aside = 0;  ///< of the records: their run was done in both stores, so that they are not counted
  std::int64_t repeated = 0;   ///< records that were there already, by their claims
  std::int64_t platforms = 0;
  std::int64_t artifacts = 0;
};

/// Brings campaigns, trials, runs, records, platforms and artifacts of the store at `other` into the file at `into`, in
/// one transaction; `other` is only read. A record is known by its claim, and by its content where it is older than
/// claims: what is there already is left as it is, so that the same call twice changes nothing. Writers stay those who
/// measured; the receipts are new, at the end of their chains.
/// Throws Error{usage} where `into` is not a file, or an agent holds a run that is done in `other`; Error{failure}
/// where a record of `other` was altered after it was stored. Nothing has happened then.
Merged merge(const std::string& other, const std::string& into);

}  // namespace assay::store
