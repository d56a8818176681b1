#pragma once

// Texts of the .sql files beside the stores, made by assay_sql of CMakeLists.txt.
namespace assay::store::sql {

extern const char* const kPostgres001;
extern const char* const kPostgres002;
extern const char* const kPostgres003;
extern const char* const kPostgresFunctions;
extern const char* const kPostgres004;
extern const char* const kPostgres005;
extern const char* const kPostgresOwnership;
extern const char* const kPostgresInfo;
extern const char* const kPostgresVerify;
extern const char* const kSqlite001;
extern const char* const kSqlite002;
extern const char* const kSqlite003;
extern const char* const kSqliteInfo;
extern const char* const kSqliteVerifyReceipts;
extern const char* const kSqliteVerifyRecords;

}  // namespace assay::store::sql
