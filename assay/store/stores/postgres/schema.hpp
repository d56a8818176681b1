#pragma once

#include <string>
#include <vector>

#include "assay/store/store.hpp"
#include "assay/store/stores/postgres/connection.hpp"

namespace assay::store::postgres {

/// The SQL that leads from one version of the schema to the next. Step 0 makes version 1.
using Migrations = std::vector<std::string>;

/// Every step there has been, in order; the schema's version is their number. Steps are added, never edited.
const Migrations& migrations();

/// How the role that is connected stands to a store.
struct Ownership {
  std::string owner;  ///< role that everything in the store belongs to
  bool ours = false;  ///< the role is the owner or a member of it
};

/// Makes the schema `assay` in the database (Access::create), or brings an older one up to date in one transaction,
/// which its owner alone may. Throws Error{usage} where there is none and `access` does not allow making it,
/// Error{failure} where a newer Assay wrote it, or where somebody other than its owner could run code in it; nothing is
/// changed then.
Ownership prepare_schema(Connection& connection, Access access, const Migrations& steps);

}  // namespace assay::store::postgres
