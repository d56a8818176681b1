#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "assay/core/error.hpp"
#include "assay/core/text/json.hpp"

namespace assay::store {

/// Hears of a row that cannot be read, in a sentence for a person.
using OnSkipped = std::function<void(const std::string&)>;

/// Writes it to stderr.
OnSkipped skipped_to_stderr();

/// Rows that a reader leaves out, so that one that another program has spoiled does not hide all others. Each is named
/// once, and many only in part.
class SkippedRows {
 public:
  explicit SkippedRows(OnSkipped on_skipped) : on_skipped_(std::move(on_skipped)) {}

  /// What `read` gives. Null where the row is not what a store writes: then `name()` says which it is. Every other
  /// failure, as of the disk, is thrown on.
  template <typename Read, typename Name>
  auto unless_bad(Read&& read, Name&& name) -> std::optional<decltype(read())> {
    try {
      return read();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) throw;
      report(name(), error.what());
    } catch (const json::exception& error) {
      report(name(), error.what());
    }
    return std::nullopt;
  }

 private:
  void report(const std::string& name, const std::string& why);

  OnSkipped on_skipped_;
  std::set<std::string> named_;
};

}  // namespace assay::store
