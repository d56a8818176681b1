#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/core/text/json.hpp"

namespace assay::store {

/// What can be wrong with a store's records and receipts.
enum class Fault {
  altered,        ///< the record is not what its receipt says
  slipped_in,     ///< no receipt names the record, though it is newer than receipts are
  lost,           ///< the record is gone, though its campaign was not dropped
  broken_link,    ///< receipts of a writer were changed, removed or put in between
  wrong_content,  ///< JSON that records share does not fit its hash
};

}  // namespace assay::store

template <>
struct assay::EnumNames<assay::store::Fault> {
  static constexpr std::array<const char*, 5> names{"altered", "slipped_in", "lost", "broken_link", "wrong_content"};
};

namespace assay::store {

/// One thing that is wrong, with all that is known of where.
struct FoundFault {
  Fault fault = Fault::altered;
  std::optional<std::int64_t> record;  ///< the store's own key
  std::optional<std::string> trial;    ///< id
  std::optional<std::int64_t> index;
  std::optional<std::int64_t> attempt;
  std::optional<Writer> writer;
  std::optional<std::int64_t> receipt;  ///< its number in the writer's chain, from 1
  std::optional<std::string> content;   ///< hash
};

template <typename V>
void describe(V& v, FoundFault& f) {
  required(v, "fault", f.fault);
  v("record", f.record);
  v("trial", f.trial);
  v("index", f.index);
  v("attempt", f.attempt);
  v("writer", f.writer);
  v("receipt", f.receipt);
  v("content", f.content);
}

/// What verifying a store has found.
struct Verification {
  std::int64_t records = 0;
  std::int64_t receipts = 0;  ///< also of records whose campaign was dropped
  std::int64_t writers = 0;
  std::int64_t older = 0;            ///< records from before there were receipts: nothing can be said of them
  std::vector<FoundFault> findings;  ///< empty: nothing is wrong
};

template <typename V>
void describe(V& v, Verification& f) {
  required(v, "records", f.records);
  required(v, "receipts", f.receipts);
  required(v, "writers", f.writers);
  required(v, "older", f.older);
  required(v, "findings", f.findings);
}

/// How many findings are of one kind.
std::int64_t count_of(const std::vector<FoundFault>& findings, Fault fault);

/// A line for a person.
std::string sentence(const FoundFault& finding);

}  // namespace assay::store
