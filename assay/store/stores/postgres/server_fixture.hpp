#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "assay/store/store_fixture.hpp"
#include "assay/store/stores/postgres/connection.hpp"

namespace assay::store::postgres {

/// A PostgreSQL server of the test program's own: on a unix socket in a scratch folder, as an unprivileged user, gone
/// with the program. What it stores need not survive the machine.
class TestServer {
 public:
  /// The one server of this program, started at the first call; null where PostgreSQL is not installed.
  static TestServer* get();

  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::string url(const std::string& database, const std::string& user = "assay") const;

  /// URL of a database that is empty.
  std::string fresh_database();
  /// Makes a role that may log in, with a name of its own.
  std::string fresh_role();

  void start();
  /// As a power cut does: every process of the server is killed.
  void kill_all();

 private:
  explicit TestServer(std::filesystem::path programs);

  /// Runs SQL as the superuser.
  void administer(const std::string& sql) const;
  std::string log() const;
  pid_t run(const std::vector<std::string>& arguments) const;

  ScratchFolder folder_;
  std::filesystem::path programs_;
  std::string socket_folder_;
  pid_t server_ = -1;
  bool ours_ = true;
  int made_ = 0;
};

}  // namespace assay::store::postgres
