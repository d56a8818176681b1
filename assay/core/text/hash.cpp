#include "assay/core/text/hash.hpp"

#include <fmt/core.h>
#include <sha2.h>

#include <array>
#include <fstream>
#include <vector>

namespace assay {
namespace {

using Digest = std::array<std::uint8_t, SHA256_DIGEST_LENGTH>;

class Sha256 {
 public:
  Sha256() { SHA256Init(&context_); }
  void add(std::string_view bytes) {
    SHA256Update(&context_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  Digest finish() {
    Digest digest{};
    SHA256Final(digest.data(), &context_);
    return digest;
  }

 private:
  SHA2_CTX context_;
};

Digest sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.finish();
}

std::string hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < 16; ++i) {
    out += kDigits[digest[i] >> 4];
    out += kDigits[digest[i] & 15];
  }
  return out;
}

}  // namespace

std::string hash_hex(std::string_view bytes) {
  return hex(sha256(bytes));
}

std::optional<std::string> hash_hex_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> part(std::size_t{1} << 20);
  Sha256 hash;
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0) {
    hash.add({part.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (!file.eof()) return {};  // it could not be opened, or a read failed
  return hex(hash.finish());
}

std::int64_t hash_int(std::string_view bytes) {
  const auto digest = sha256(bytes);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | digest[i];
  return static_cast<std::int64_t>(value >> 1);
}

}  // namespace assay
