#include "assay/platform/proc.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "assay/core/text/number.hpp"

namespace assay::platform {

std::optional<std::string> read_small_file(const std::string& path, std::size_t most) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  std::array<char, 8192> buffer;
  ssize_t got = 0;
  while (text.size() < most && (got = read(fd, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(fd);
  if (got < 0) return std::nullopt;
  return text;
}

std::optional<std::string> read_word(const std::string& path) {
  auto text = read_small_file(path);
  if (!text) return std::nullopt;
  const auto first = text->find_first_not_of(" \t\n");
  if (first == std::string::npos) return std::string();
  return text->substr(first, text->find_last_not_of(" \t\n") - first + 1);
}

std::optional<std::int64_t> read_integer_file(const std::string& path) {
  const auto word = read_word(path);
  if (!word) return std::nullopt;
  return parse_number<std::int64_t>(*word);
}

std::optional<std::int64_t> integer_after(const std::string& text, const std::string& key) {
  std::size_t at = text.rfind(key, 0) == 0 ? 0 : text.find("\n" + key);
  if (at == std::string::npos) return std::nullopt;
  at = text.find_first_of("-0123456789", at + key.size() + (at == 0 ? 0 : 1));
  if (at == std::string::npos) return std::nullopt;
  auto rest = std::string_view(text).substr(at);
  return take_number<std::int64_t>(rest);
}

}  // namespace assay::platform
