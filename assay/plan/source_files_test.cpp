#include "assay/plan/source_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "assay/core/text/hash.hpp"

namespace assay::plan {
namespace {

namespace fs = std::filesystem;

/// A folder of this test alone, gone at its end.
class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / ("assay-sources-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path write(const std::string& name, const std::string& text, bool program = false) const {
    const auto path = path_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    if (program) fs::permissions(path, fs::perms::owner_all);
    return path;
  }

 private:
  fs::path path_;
};

TEST(SourceFiles, AFileWithoutModulesOfItsOwnHasTheHashOfItsBytes) {
  const Folder folder;
  const std::string text = "import os, sys\nfrom json import loads\n";
  EXPECT_EQ(hash_of_python(folder.write("net.py", text)), hash_hex(text));
}

TEST(SourceFiles, AModuleBehindAModuleCounts) {
  const Folder folder;
  const auto net = folder.write("net.py", "def f():\n    from parts import (  # here\n        layers as l,\n    )\n");
  folder.write("parts/__init__.py", "");
  folder.write("parts/layers.py", "from . import sizes\nfrom ..other import nothing\n");
  folder.write("parts/sizes.py", "WIDTH = 1\n");
  const auto before = hash_of_python(net);
  folder.write("parts/sizes.py", "WIDTH = 2\n");
  EXPECT_NE(hash_of_python(net), before);
  folder.write("parts/sizes.py", "WIDTH = 1\n");
  EXPECT_EQ(hash_of_python(net), before);
  folder.write("parts/unused.py", "WIDTH = 3\n");
  EXPECT_EQ(hash_of_python(net), before);
}

TEST(SourceFiles, ModulesThatImportEachOtherEnd) {
  const Folder folder;
  const auto a = folder.write("a.py", "import b\n");
  folder.write("b.py", "import a, \\\n  c\n");
  const auto before = hash_of_python(a);
  folder.write("c.py", "");
  EXPECT_NE(hash_of_python(a), before);
}

TEST(SourceFiles, OfAProgramIsItsFile) {
  const Folder folder;
  const auto program = folder.write("prog", "one", true).string();
  EXPECT_EQ(hash_of_command({program, "--size", "{batch}"}), hash_hex("one"));
  folder.write("prog", "two", true);
  EXPECT_EQ(hash_of_command({program}), hash_hex("two"));
  EXPECT_FALSE(hash_of_command({"/nowhere/program"}));
  EXPECT_FALSE(hash_of_command({"{batch}"}));
}

TEST(SourceFiles, AScriptCountsWithItsInterpreterAndWhatStartsThem) {
  const Folder folder;
  const auto script = folder.write("script.sh", "sleep 1").string();
  const auto data = folder.write("data", "1").string();
  const std::vector<std::string> argv{"nice", "-n", "1", "sh", script, data};
  const auto before = hash_of_command(argv);
  ASSERT_TRUE(before);
  folder.write("data", "2");  // what a program reads or writes is not the program
  EXPECT_EQ(hash_of_command(argv), before);
  folder.write("script.sh", "sleep 2");
  EXPECT_NE(hash_of_command(argv), before);
}

TEST(SourceFiles, WhatAProgramInTheCommandLineWritesIsNotTheProgram) {
  const Folder folder;
  const auto data = folder.write("data", "1").string();
  const std::vector<std::string> argv{"sh", "-c", "date > $0", data};
  const auto before = hash_of_command(argv);
  ASSERT_TRUE(before);
  folder.write("data", "2");
  EXPECT_EQ(hash_of_command(argv), before);
  EXPECT_EQ(hash_of_command({"sh", "--posix"}), before);  // the interpreter alone
}

}  // namespace
}  // namespace assay::plan
