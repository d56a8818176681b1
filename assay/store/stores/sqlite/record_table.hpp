#pragma once

#include "assay/store/records/record_columns.hpp"
#include "assay/store/stores/sqlite/database.hpp"

namespace assay::store::sqlite {

/// Adds a row to the table of records; its key.
std::int64_t insert_columns(Database& database, std::int64_t run, const RecordColumns& columns, const char* doing);

}  // namespace assay::store::sqlite
