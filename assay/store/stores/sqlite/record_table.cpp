#include "assay/store/stores/sqlite/record_table.hpp"

namespace assay::store::sqlite {
namespace {

const std::string& bound(const std::string& value) {
  return value;
}
Blob bound(const PackedSamples& value) {
  return {value.bytes};
}
template <typename T>
const T& bound(const T& value) {
  return value;
}

}  // namespace

std::int64_t insert_columns(Database& database, std::int64_t run, const RecordColumns& columns, const char* doing) {
  static const auto sql = with_record_columns("INSERT INTO record(run, {names}) VALUES (?1, {values})");
  Statement(database, sql, doing)
      .bind_each([&](const auto& give) {
        give(run);
        each_column(columns, [&](const char*, const auto& value) { give(bound(value)); });
      })
      .run();
  return sqlite3_last_insert_rowid(database.handle());
}

}  // namespace assay::store::sqlite
