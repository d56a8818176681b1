#include "assay/store/stores/postgres/server_fixture.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace assay::store::postgres {
namespace {

constexpr uid_t kNobody = 65534;                        // PostgreSQL refuses to run as root
constexpr const char* kPort = "5499";                   // part of the socket's name; nothing listens on it
constexpr const char* kShared = "ASSAY_TEST_POSTGRES";  // a death test starts this program again: one server for both

/// Folder of the newest server that is installed; empty where there is none.
std::filesystem::path find_programs() {
  std::filesystem::path newest;
  int version = 0;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", missing)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number <= version || !std::filesystem::exists(entry.path() / "bin/postgres")) continue;
    version = number;
    newest = entry.path() / "bin";
  }
  return newest;
}

}  // namespace

TestServer* TestServer::get() {
  static const std::unique_ptr<TestServer> server = [] {
    const auto programs = find_programs();
    return std::unique_ptr<TestServer>(programs.empty() ? nullptr : new TestServer(programs));
  }();
  return server.get();
}

TestServer::TestServer(std::filesystem::path programs) : programs_(std::move(programs)) {
  if (const char* shared = std::getenv(kShared)) {
    socket_folder_ = shared;
    ours_ = false;
    made_ = static_cast<int>(getpid() % 1'000'000) * 100;  // names of its own
    return;
  }
  socket_folder_ = folder_.path().string();
  if (geteuid() == 0 && chown(socket_folder_.c_str(), kNobody, kNobody) != 0) throw std::runtime_error("chown failed");
  const pid_t made = run({"initdb", "-D", socket_folder_ + "/data", "-U", "assay", "--auth=trust", "--no-locale",
                          "--encoding=UTF8", "--no-sync"});
  int status = 0;
  waitpid(made, &status, 0);
  if (status != 0) throw std::runtime_error("initdb failed: " + log());
  start();
  setenv(kShared, socket_folder_.c_str(), 1);
}

TestServer::~TestServer() {
  if (ours_ && server_ > 0) kill_all();
}

pid_t TestServer::run(const std::vector<std::string>& arguments) const {
  const std::string program = (programs_ / arguments[0]).string();
  const std::string log = socket_folder_ + "/log";
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv[0] = const_cast<char*>(program.c_str());  // it finds the others beside itself
  argv.push_back(nullptr);
  const std::string home = "HOME=" + socket_folder_;
  const std::array<char*, 4> environment{const_cast<char*>(home.c_str()), const_cast<char*>("PATH=/usr/bin:/bin"),
                                         const_cast<char*>("LC_ALL=C"), nullptr};
  const pid_t child = fork();
  if (child != 0) return child;
  const bool root = geteuid() == 0;
  if (root && (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGQUIT);  // behind setuid, which would take it back
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  if (chdir("/") != 0) _exit(126);
  execve(program.c_str(), argv.data(), environment.data());
  _exit(127);
}

std::string TestServer::log() const {
  std::ifstream file(socket_folder_ + "/log");
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

void TestServer::start() {
  server_ = run({"postgres", "-D", socket_folder_ + "/data", "-k", socket_folder_, "-p", kPort, "-c",
                 "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=50", "-c", "shared_buffers=32MB"});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const std::string where = url("postgres");
  const std::array<const char*, 2> keywords{"dbname", nullptr};
  const std::array<const char*, 2> values{where.c_str(), nullptr};
  while (Libpq::get().ping_params(keywords.data(), values.data(), 1) != kPingOk) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the server did not start: " + log());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void TestServer::kill_all() {
  kill(server_, SIGQUIT);  // it kills its own, and leaves everything as it is
  int status = 0;
  waitpid(server_, &status, 0);
  server_ = -1;
}

std::string TestServer::url(const std::string& database, const std::string& user) const {
  return fmt::format("postgresql://{}@/{}?host={}&port={}", user, database, socket_folder_, kPort);
}

void TestServer::administer(const std::string& sql) const {
  Connection(locate(url("postgres")), false).execute(sql, "testing");
}

std::string TestServer::fresh_database() {
  const auto name = fmt::format("test_{}", ++made_);
  administer("CREATE DATABASE " + name);
  return url(name);
}

std::string TestServer::fresh_role() {
  auto name = fmt::format("role_{}", ++made_);
  administer(fmt::format("CREATE ROLE {} LOGIN", name));
  return name;
}

}  // namespace assay::store::postgres
