#include "assay/store/location.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "assay/core/error.hpp"
#include "assay/store/secrets.hpp"
#include "assay/store/store_fixture.hpp"

namespace assay::store {
namespace {

using testing::HasSubstr;

class LocationFile : public testing::Test {
 protected:
  /// "@" and the path of a file with this text that only its owner may read.
  std::string file_with(const std::string& text, mode_t mode = 0600) const {
    const auto path = folder_.path() / "store.url";
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return "@" + path.string();
  }

  ScratchFolder folder_;
};

std::string refusal_of(const std::string& given) {
  try {
    locate(given);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << given << " was taken";
  return "";
}

TEST(Location, APathIsAFile) {
  const auto location = locate("some/assay.db");
  EXPECT_TRUE(location.is_file);
  EXPECT_EQ(location.place, "some/assay.db");
  EXPECT_EQ(location.shown, "some/assay.db");
  EXPECT_EQ(location.identity, locate("some/../some/assay.db").identity);
  EXPECT_NE(location.identity, locate("assay.db").identity);
}

TEST(Location, AUrlIsShownWithoutItsPassword) {
  const auto location = locate("postgresql://me:secret@db.example:5433/team?sslmode=require");
  EXPECT_FALSE(location.is_file);
  EXPECT_EQ(location.place, "postgresql://me:secret@db.example:5433/team?sslmode=require");
  EXPECT_EQ(location.shown, "postgresql://me@db.example:5433/team?sslmode=require");
  EXPECT_EQ(location.identity, location.shown);
  EXPECT_EQ(locate("postgres://db/team").shown, "postgres://db/team");
}

TEST(Location, AUrlMayNameSeveralServers) {
  for (const std::string url : {"postgresql://me@one:5432,two:5433/team?target_session_attrs=read-write",
                                "postgresql://me@/team?host=one,two&port=5432,5433&target_session_attrs=read-write"}) {
    EXPECT_EQ(locate(url).place, url);
    EXPECT_EQ(locate(url).shown, url);
    EXPECT_FALSE(has_password(url)) << url;
    EXPECT_FALSE(repeats_secret(url, "could not connect to \"two\", port 5433: session is not read-write")) << url;
  }
  EXPECT_EQ(locate("postgresql://me:secret@one,two:5433/team").shown, "postgresql://me@one,two:5433/team");
}

TEST(Location, NoFormOfAPasswordIsShown) {
  for (const std::string url :
       {"postgresql://me:secret@h/d", "postgres://me:secret@h", "postgresql://me:a@secret@h/d",
        "postgresql://me:a/secret@h/d", "postgresql://me:a?secret@h/d", "postgresql://h/d?password=secret",
        "postgresql://h/d?user=me&password=secret&sslmode=require", "postgresql://h/d?%70assword=secret",
        "postgresql://h/d?sslpassword=secret", "postgresql://:secret@h/d", "postgresql://h/d?x=secret"}) {
    EXPECT_THAT(shown_location(url), testing::Not(HasSubstr("secret"))) << url;
    EXPECT_THAT(locate(url).identity, testing::Not(HasSubstr("secret"))) << url;
  }
}

TEST(Location, PasswordsInWordsOfACommandLineAreSeen) {
  EXPECT_TRUE(has_password("postgresql://me:secret@h/d"));
  EXPECT_TRUE(has_password("--store=postgres://me:secret@h/d"));
  EXPECT_TRUE(has_password("postgresql://h/d?password=secret"));
  EXPECT_TRUE(has_password("postgresql://h/d?%70assword=secret"));
  EXPECT_TRUE(has_password("postgresql://h/d?password=secr@et"));
  EXPECT_FALSE(has_password("postgresql://me@h:5432/d?sslmode=require"));
  EXPECT_FALSE(has_password("postgresql://h:5432/d?application_name=a@b"));
  EXPECT_FALSE(has_password("postgresql://%2Frun%2Fpg/d"));
  EXPECT_FALSE(has_password("postgresql://h/d?passfile=/home/me/.pgpass"));
  EXPECT_FALSE(has_password("a:b@c/d"));
}

// A connection string in libpq's other form was taken for a path, and repeated in every message about that path.
TEST_F(LocationFile, PairsOfKeywordsAreRefusedAndNotShown) {
  for (const std::string text :
       {"host=h password=secret", "host=h dbname=secret", " host = h password = 'sec ret secret'", "password=secret",
        "user=me\tpassword=secret", "service=secret", "sslpassword=secret sslmode=require", "dbname=d Password=secret",
        "x=1 password=secret", "HOST=h;PASSWORD=secret", "PGPASSWORD=secret"}) {
    EXPECT_THAT(refusal_of(text), testing::AllOf(HasSubstr("Write a URL"), testing::Not(HasSubstr("secret")))) << text;
    EXPECT_THAT(shown_location(text), testing::Not(HasSubstr("secret"))) << text;
    EXPECT_THAT(refusal_of(file_with(text)), testing::AllOf(HasSubstr("store.url"), testing::Not(HasSubstr("secret"))));
  }
}

TEST(Location, APathWithAnEqualsSignIsStillAPath) {
  for (const std::string path : {"batch=32.db", "./host=h.db", "/data/password=1/assay.db", "runs/user=me.db",
                                 "my_password=.db", "passwords.db", "hosts=3.db"}) {
    EXPECT_EQ(locate(path).place, path);
    EXPECT_EQ(shown_location(path), path);
  }
}

TEST(Location, PasswordsAsKeywordsInWordsOfACommandLineAreSeen) {
  for (const std::string word : {"host=h password=secret", "--store=host=h password=secret", "--store=password=secret",
                                 "host=h password ='s t'", "--env=PGPASSWORD=secret", "sslpassword=secret"}) {
    EXPECT_TRUE(has_password(word)) << word;
  }
  for (const std::string word : {"host=h user=me", "passfile=/home/me/.pgpass", "my_password=x", "password",
                                 "passwords=2", "/data/password=1/assay.db"}) {
    EXPECT_FALSE(has_password(word)) << word;
  }
}

TEST_F(LocationFile, AFileHoldsTheLocationInItsFirstLine) {
  const auto given = file_with("postgresql://me:secret@h/d \nmore\n");
  const auto location = locate(given);
  EXPECT_EQ(location.place, "postgresql://me:secret@h/d");
  EXPECT_EQ(location.shown, given);
  EXPECT_EQ(location.identity, "postgresql://me@h/d");
  EXPECT_EQ(locate(file_with("/data/assay.db")).place, "/data/assay.db");
}

TEST_F(LocationFile, APasswordThatOthersMayReadIsRefused) {
  const auto message = refusal_of(file_with("postgresql://me:secret@h/d", 0640));
  EXPECT_THAT(message, HasSubstr("chmod 600"));
  EXPECT_THAT(message, testing::Not(HasSubstr("secret")));
  EXPECT_EQ(locate(file_with("postgresql://me@h/d", 0644)).place, "postgresql://me@h/d");
}

TEST_F(LocationFile, WhatIsNoLocationIsRefused) {
  EXPECT_THAT(refusal_of(""), HasSubstr("empty"));
  EXPECT_THAT(refusal_of(std::string("a\0b", 3)), HasSubstr("NUL"));
  EXPECT_THAT(refusal_of("mysql://me:secret@host/db"),
              testing::AllOf(HasSubstr("mysql"), testing::Not(HasSubstr("secret"))));
  EXPECT_THAT(refusal_of("@" + (folder_.path() / "nowhere").string()), HasSubstr("no such file"));
  EXPECT_THAT(refusal_of("@" + folder_.path().string()), HasSubstr("no such file"));
  EXPECT_THAT(refusal_of(file_with("")), HasSubstr("first line"));
  EXPECT_THAT(refusal_of(file_with("\n postgresql://h/d")), HasSubstr("first line"));
  EXPECT_THAT(refusal_of(file_with("@other")), HasSubstr("first line"));
  EXPECT_THAT(refusal_of(file_with(std::string(5000, 'x'))), HasSubstr("first line"));
}

TEST(Location, PartsOfAPasswordThatIsNotEscapedAreSeenInAMessage) {
  // libpq takes what stands before '/' for a port.
  EXPECT_TRUE(repeats_secret("postgresql://me:first/second@h/d", "invalid integer value \"first\" for \"port\""));
  EXPECT_TRUE(repeats_secret("postgresql://me:first@second@h/d", "could not translate host name \"second@h\""));
  EXPECT_TRUE(repeats_secret("postgresql://h/d?password=first", "no first"));
  EXPECT_FALSE(repeats_secret("postgresql://me:first/second@h/d", "the server does not answer"));
  EXPECT_FALSE(repeats_secret("postgresql://me@h:5432/d?application_name=a", "no port 5432 of me"));
  EXPECT_FALSE(repeats_secret("assay.db", "assay.db"));
}

}  // namespace
}  // namespace assay::store
