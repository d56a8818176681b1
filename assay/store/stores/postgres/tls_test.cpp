#include "assay/store/stores/postgres/tls.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "assay/store/stores/postgres/server_fixture.hpp"

namespace assay::store {
namespace {

using postgres::default_sslmode;

/// Variables of libpq as if the user had set them.
class PostgresTls : public testing::Test {
 protected:
  void SetUp() override {
    if (postgres::TestServer::get() == nullptr) GTEST_SKIP() << "there is no PostgreSQL here";
    for (const char* name : {"PGSSLMODE", "PGHOST", "PGHOSTADDR", "PGSERVICE"}) unsetenv(name);
  }
  void TearDown() override { SetUp(); }

  static std::string mode_of(const std::string& url) {
    const char* mode = default_sslmode(url);
    return mode == nullptr ? "the user's" : mode;
  }
};

TEST(PostgresHosts, OnlySocketsAndTheLoopbackDeviceAreLocal) {
  for (const char* local : {"", "/run/postgresql", "@abstract", "localhost", "127.0.0.1", "127.1.2.3", "::1"}) {
    EXPECT_TRUE(postgres::is_local_host(local)) << local;
  }
  for (const char* remote : {"db.example", "10.0.0.1", "192.168.1.127", "127.evil.example", "localhost.example",
                             "::", "fe80::1", "0.0.0.0", "12.7.0.1"}) {
    EXPECT_FALSE(postgres::is_local_host(remote)) << remote;
  }
}

TEST_F(PostgresTls, IsRequiredUnlessEveryHostIsLocal) {
  for (const char* url : {"postgresql:///d", "postgresql://localhost/d", "postgresql://me@127.0.0.1:5433/d",
                          "postgresql://[::1]/d", "postgresql://%2Frun%2Fpg/d", "postgresql://me@/d?host=/run/pg",
                          "postgresql://localhost,127.0.0.1/d", "postgresql://db.example/d?hostaddr=127.0.0.1"}) {
    EXPECT_EQ(mode_of(url), "prefer") << url;
  }
  for (const char* url :
       {"postgresql://db.example/d", "postgresql://me:secret@10.0.0.1:5433/d", "postgresql://localhost,db.example/d",
        "postgresql://me@/d?host=/run/pg,db.example", "postgresql://localhost/d?hostaddr=10.0.0.1",
        "postgresql://a,b/d?target_session_attrs=read-write"}) {
    EXPECT_EQ(mode_of(url), "require") << url;
  }
}

TEST_F(PostgresTls, WhatTheUserSaysHolds) {
  for (const char* url : {"postgresql://db.example/d?sslmode=verify-full", "postgresql://db.example/d?sslmode=disable",
                          "postgresql:///d?service=team"}) {
    EXPECT_EQ(mode_of(url), "the user's") << url;
  }
  setenv("PGSSLMODE", "verify-ca", 1);
  EXPECT_EQ(mode_of("postgresql://db.example/d"), "the user's");
}

TEST_F(PostgresTls, AHostOfTheEnvironmentCounts) {
  setenv("PGHOST", "db.example", 1);
  EXPECT_EQ(mode_of("postgresql:///d"), "require");
  EXPECT_EQ(mode_of("postgresql://localhost/d"), "prefer");
}

TEST(PostgresHosts, WhatLibpqSaysOfConnectionsThatAreNotSecureIsKnown) {
  // As libpq 15 writes it.
  for (const char* text :
       {"connection to server at \"h\" (10.0.0.1), port 5432 failed: server does not support SSL, but SSL was required",
        "… failed: SSL error: certificate verify failed",
        "… failed: root certificate file \"/root/.postgresql/root.crt\" does not exist",
        "… failed: server certificate for \"a\" does not match host name \"b\""}) {
    EXPECT_TRUE(postgres::is_insecure(text)) << text;
  }
  EXPECT_FALSE(postgres::is_insecure("connection to server at \"h\" failed: Connection refused"));
}

}  // namespace
}  // namespace assay::store
