#include "assay/store/store.hpp"

#include "assay/store/stores/postgres/postgres.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

namespace assay::store {

std::unique_ptr<Store> open_store(const std::string& location, Access access, const OnSkipped& on_skipped) {
  const auto where = locate(location);
  if (where.is_file) return std::make_unique<sqlite::SqliteStore>(where.place, access, on_skipped);
  return std::make_unique<postgres::PostgresStore>(where, access, on_skipped);
}

}  // namespace assay::store
