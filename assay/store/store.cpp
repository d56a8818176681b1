#include "assay/store/store.hpp"

#include "assay/store/stores/postgres/postgres.hpp"
#include "assay/store/stores/sqlite/sqlite.hpp"

namespace assay::store {

std::unique_ptr<Store> open_store(const std::string& location, Access access) {
  const auto where = locate(location);
  if (where.is_file) return std::make_unique<sqlite::SqliteStore>(where.place, access);
  return std::make_unique<postgres::PostgresStore>(where, access);
}

}  // namespace assay::store
