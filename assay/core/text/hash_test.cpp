#include "assay/core/text/hash.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace assay {
namespace {

// Messages and digests published with FIPS 180-4; an id is the first half of the digest.
TEST(Hash, HexIsTheFirstHalfOfTheFipsDigests) {
  EXPECT_EQ(hash_hex(""), "e3b0c44298fc1c149afbf4c8996fb924");
  EXPECT_EQ(hash_hex("abc"), "ba7816bf8f01cfea414140de5dae2223");
  EXPECT_EQ(hash_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), "248d6a61d20638b8e5c026930c3e6039");
  EXPECT_EQ(hash_hex(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67");
}

TEST(Hash, IntegerIsTheFirst63BitsOfTheDigest) {
  EXPECT_EQ(hash_int("abc"), 0x5d3c0b5fc780e7f5);  // 0xba7816bf8f01cfea >> 1
  EXPECT_EQ(hash_int(""), 0x71d862214c7e0e0a);     // 0xe3b0c44298fc1c14 >> 1
}

TEST(Hash, OfAFileIsThatOfItsBytes) {
  const std::string path = testing::TempDir() + "assay-hash-" + std::to_string(getpid());
  // The third FIPS message, of a million letters, and more than is read at once.
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1'000'000}, std::size_t{1} << 20, (std::size_t{5} << 20) + 1}) {
    std::ofstream(path) << std::string(size, 'a');
    EXPECT_EQ(hash_hex_of_file(path), hash_hex(std::string(size, 'a'))) << size;
  }
  std::filesystem::remove(path);
  EXPECT_FALSE(hash_hex_of_file(path));
  EXPECT_FALSE(hash_hex_of_file(testing::TempDir())) << "a folder";
}

TEST(Hash, ReadsZeroBytesLikeAnyOther) {
  EXPECT_NE(hash_hex(std::string_view("a\0b", 3)), hash_hex(std::string_view("a\0c", 3)));
}

}  // namespace
}  // namespace assay
