#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

/// Where text from a user cannot be taken, and why.
struct BadText {
  std::size_t offset;  ///< in bytes
  const char* reason;  ///< "is not UTF-8", "is a zero byte", "is a control character"
};

/// The first byte of `text` that is not UTF-8 or begins a control character outside `allowed`; null where all is well.
/// Every text that reaches a trial passes here, because trials are written as JSON and printed on terminals.
std::optional<BadText> find_bad_text(std::string_view text, std::string_view allowed = "");

/// Throws Error{usage} that names `what` where find_bad_text() finds something.
void check_text(std::string_view text, const std::string& what, std::string_view allowed = "");

/// The one of `choices` that a person most likely meant by `word`: the least misspelt, else one that begins with it.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& choices);

/// What to do about a `word` that is not one of `choices`: "Did you mean 'batch'?", or the choices where none is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& choices);

/// Puts `with` in every place of `what`; not again in what was put there.
void replace_all(std::string& text, std::string_view what, const std::string& with);

}  // namespace assay::plan
