#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "assay/report/site/catalogue.hpp"
#include "assay/report/site/folder.hpp"
#include "assay/report/site/frame.hpp"

namespace assay::report::site {
namespace {

namespace fs = std::filesystem;

class SiteFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "assay-site-XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    path_ = made;
  }
  void TearDown() override { fs::remove_all(path_); }

  std::string text(const std::string& file) const {
    std::ifstream in(path_ / file);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path_ / file) << text; }

  fs::path path_;
};

TEST(SitePath, NothingLeadsElsewhere) {
  for (const char* good : {"index.html", "site.css", "site.js", "history/0a1b.html", "list/workloads-12.html"})
    EXPECT_TRUE(is_site_path(good)) << good;
  for (const char* bad : {"", "/etc/passwd", "../x.html", "history/../x.html", "a/b/c.html", "manifest.jsonl", "x.HTML",
                          ".html", "history/.html", "a b.html", "history/x.html.exe", "A/x.html"})
    EXPECT_FALSE(is_site_path(bad)) << bad;
}

TEST(SitePath, AnIdIsItsOwnAddressWhereItIsHexadecimal) {
  EXPECT_EQ(address_of("00112233445566778899aabbccddeeff"), "00112233445566778899aabbccddeeff");
  for (const char* odd : {"p", "../../x", "<b>", "00112233G", ""}) {
    const auto address = address_of(odd);
    EXPECT_EQ(address.size(), 32u) << odd;
    EXPECT_TRUE(is_site_path("machine/" + address + ".html")) << odd;
  }
}

TEST(SiteManifest, IsReadAsItWasWritten) {
  Manifest manifest;
  PageEntry page{"history/ab.html", "from", "content", 12, "a \"title\"\n"};
  page.standings.push_back({"p", "2026-11-02T10:00:00Z", 1.5e6, 3, KnownChange{"2026-11-01", "c", 1.1, 1.05, 1.15}});
  page.standings.push_back({"q", "", {}, 0, {}});
  manifest.emplace(page.path, page);
  const auto again = parse_manifest(manifest_text(manifest));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(to_json(again.at("history/ab.html")), to_json(page));
}

TEST(SiteManifest, AManifestThatNamesOtherFilesIsRefused) {
  const std::string first = "{\"site_version\":1}\n";
  EXPECT_NO_THROW(parse_manifest(first));
  EXPECT_THROW(parse_manifest(first + R"({"path":"../../x.html","content":"","bytes":1})"), Error);
  EXPECT_THROW(parse_manifest(first + "{}"), Error);
  EXPECT_THROW(parse_manifest(""), Error);
  EXPECT_THROW(parse_manifest("{\"site_version\":2}\n"), Error) << "of a newer program";
}

TEST_F(SiteFolder, AFolderWithOtherFilesIsLeftAlone) {
  write("notes.txt", "mine");
  EXPECT_THROW(Folder{path_}, Error);
  EXPECT_EQ(text("notes.txt"), "mine");
}

TEST_F(SiteFolder, OneProgramAtATime) {
  const Folder first(path_);
  EXPECT_THROW(Folder{path_}, Error);
}

TEST_F(SiteFolder, NothingIsInItsPlaceBeforeTheEnd) {
  {
    Folder folder(path_);
    folder.put({"index.html", "", "", 0}, "new");
    EXPECT_FALSE(fs::exists(path_ / "index.html"));
  }  // as a crash leaves it
  EXPECT_FALSE(fs::exists(path_ / "index.html"));
  Folder folder(path_);
  folder.put({"index.html", "", "", 0}, "new");
  folder.finish();
  EXPECT_EQ(text("index.html"), "new");
  EXPECT_FALSE(fs::exists(path_ / ".assay-site.next"));
}

TEST_F(SiteFolder, AFirstBuildThatWasCutOffIsDoneAgain) {
  {
    Folder folder(path_);
    folder.put({"index.html", "", "", 0}, "new");
  }
  write("index.html", "new");  // placed, and then the program was killed before the manifest was
  Folder folder(path_);
  EXPECT_TRUE(folder.known().empty());
}

TEST_F(SiteFolder, OnlyWhatDiffersIsWrittenAndWhatIsGoneIsRemoved) {
  {
    Folder folder(path_);
    folder.put({"index.html", "", "", 0}, "one");
    folder.put({"history/ab.html", "x", "", 0}, "page");
    folder.put({"history/cd.html", "x", "", 0}, "page");
    folder.finish();
    EXPECT_EQ(folder.written(), 3);
  }
  {
    Folder folder(path_);
    EXPECT_NE(folder.unchanged("history/ab.html", "x"), nullptr);
    EXPECT_EQ(folder.unchanged("history/ab.html", "y"), nullptr);
    folder.put({"index.html", "", "", 0}, "two");
    folder.put({"history/ab.html", "y", "", 0}, "page");
    folder.finish();
    EXPECT_EQ(folder.written(), 1);
    EXPECT_EQ(folder.removed(), 1);
  }
  EXPECT_EQ(text("index.html"), "two");
  EXPECT_TRUE(fs::exists(path_ / "history/ab.html"));
  EXPECT_FALSE(fs::exists(path_ / "history/cd.html"));
}

TEST_F(SiteFolder, APageThatSomebodyRemovedIsWrittenAgain) {
  {
    Folder folder(path_);
    folder.put({"index.html", "x", "", 0}, "one");
    folder.finish();
  }
  fs::remove(path_ / "index.html");
  Folder folder(path_);
  EXPECT_EQ(folder.unchanged("index.html", "x"), nullptr);
  folder.put({"index.html", "x", "", 0}, "one");
  folder.finish();
  EXPECT_EQ(text("index.html"), "one");
}

TEST(SitePage, LinksBeginAtThePageAndTextIsText) {
  PageWriter page("history/ab.html", "<b>");
  page.link("to ", {"<i>", "machine/cd.html"});
  const auto text = page.page("\"site\"");
  EXPECT_NE(text.find("<a href=\"../machine/cd.html\">&lt;i&gt;</a>"), std::string::npos);
  EXPECT_NE(text.find("<title>&lt;b&gt;</title>"), std::string::npos);
  EXPECT_NE(text.find("<a href=\"../index.html\">&quot;site&quot;</a>"), std::string::npos);
  EXPECT_NE(text.find("script-src 'none'"), std::string::npos);
  EXPECT_EQ(text.find("<script"), std::string::npos);
}

}  // namespace
}  // namespace assay::report::site
