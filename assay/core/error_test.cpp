#include "assay/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

TEST(Shown, TextIsShortenedButAPathIsWhole) {
  const std::string path = "/a/folder/whose/name/" + std::string(80, 'x') + "/libcblas.so";
  EXPECT_EQ(shown_path(path), "'" + path + "'");
  EXPECT_EQ(shown(path).find("libcblas"), std::string::npos);
  EXPECT_EQ(shown_path("two\nlines"), shown("two\nlines"));
}

}  // namespace
}  // namespace assay
