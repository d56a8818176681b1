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

/// Makes the schema `assay` in the database (Access::create), or brings an older one up to date in one transaction,
/// which its owner alone may. Throws Error{usage} where there is none and `access` does not allow making it,
/// Error{failure} where a newer Assay wrote it; nothing is changed then.
void prepare_schema(Connection& connection, Access access, const Migrations& steps);

}  // namespace assay::store::postgres
