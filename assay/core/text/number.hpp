#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace assay {

/// The number that a text begins with, which is taken off its front; null, and the text unchanged, where it begins with
/// something else or the number does not fit.
template <typename Number>
std::optional<Number> take_number(std::string_view& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// A text that is a number and nothing else; null where it is not, or the number does not fit. "inf" and "nan" are
/// numbers of double: who takes no such must look.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  const auto value = take_number<Number>(text);
  return text.empty() ? value : std::nullopt;
}

}  // namespace assay
