#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assay/store/stores/sqlite/database.hpp"

namespace assay::store::sqlite {

/// PRAGMA application_id of every Assay store: "ASSY".
constexpr std::int64_t kApplicationId = 0x41535359;

/// The SQL that leads from one version of the schema to the next. Step 0 makes version 1 in an empty file.
using Migrations = std::vector<const char*>;

/// Every step there has been, in order; the schema's version is their number. Steps are added, never edited.
const Migrations& migrations();

/// Makes the schema in an empty file (Access::create), or brings an older one up to date in one transaction.
/// Throws Error{failure} for a file that is no Assay store or was written by a newer Assay; it is not changed then.
void prepare_schema(Database& database, Access access, const Migrations& steps);

}  // namespace assay::store::sqlite
