#include "assay/core/hash.hpp"

#include <fmt/core.h>
#include <sha2.h>

#include <array>

namespace assay {
namespace {

std::array<std::uint8_t, SHA256_DIGEST_LENGTH> sha256(std::string_view bytes) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256Final(digest.data(), &context);
  return digest;
}

}  // namespace

std::string hash_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto digest = sha256(bytes);
  std::string out;
  for (std::size_t i = 0; i < 16; ++i) {
    out += kDigits[digest[i] >> 4];
    out += kDigits[digest[i] & 15];
  }
  return out;
}

std::int64_t hash_int(std::string_view bytes) {
  const auto digest = sha256(bytes);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | digest[i];
  return static_cast<std::int64_t>(value >> 1);
}

}  // namespace assay
