#include "assay/load/server/null_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <string_view>
#include <vector>

#include "assay/core/error.hpp"
#include "assay/core/text/number.hpp"
#include "assay/process/descriptor.hpp"

namespace {

using namespace assay;
using load::NullServer;

/// The soft limit of open files, put back at the end.
class FileLimit {
 public:
  FileLimit() { getrlimit(RLIMIT_NOFILE, &before_); }
  ~FileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

  rlim_t soft() const {
    rlimit now{};
    getrlimit(RLIMIT_NOFILE, &now);
    return now.rlim_cur;
  }
  void set(rlim_t soft) {
    auto now = before_;
    now.rlim_cur = soft;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  rlim_t hard() const { return before_.rlim_max; }

 private:
  rlimit before_{};
};

void connect_and_ask(const process::Fd& fd, const NullServer& server) {
  const auto url = server.url();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(*parse_number<int>(url.substr(url.rfind(':') + 1))));
  ASSERT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  constexpr std::string_view kRequest = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(send(fd.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL), std::ssize(kRequest));
}

/// How many have an answer, or the end of their connection, to read; waits until `least` have, at most so long.
std::size_t readable(const std::vector<process::Fd>& fds, std::size_t least, int most_ms) {
  std::size_t count = 0;
  for (int waited = 0; waited <= most_ms; waited += 10) {
    std::vector<pollfd> polled;
    for (const auto& fd : fds) polled.push_back({fd.get(), POLLIN, 0});
    poll(polled.data(), polled.size(), 0);
    count = static_cast<std::size_t>(
        std::count_if(polled.begin(), polled.end(), [](const pollfd& one) { return (one.revents & POLLIN) != 0; }));
    if (count >= least) break;
    poll(nullptr, 0, 10);
  }
  return count;
}

double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

TEST(NullServer, WithoutFilesItWaitsUntilAConnectionIsClosed) {
  FileLimit limit;
  const NullServer server({});
  std::vector<process::Fd> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const process::Fd lowest(dup(clients.back().get()));
  limit.set(static_cast<rlim_t>(lowest.get()) + 4);  // at most three more
  for (const auto& client : clients) connect_and_ask(client, server);
  const auto few = readable(clients, 1, 10'000);
  ASSERT_GE(few, 1U);
  const auto used = process_cpu_seconds();
  EXPECT_LE(readable(clients, 4, 500), 3U);
  EXPECT_LT(process_cpu_seconds() - used, 0.05) << "it spins";
  // Each one that is closed makes room for the next.
  while (!clients.empty()) {
    ASSERT_GE(readable(clients, 1, 10'000), 1U) << clients.size() << " wait for ever";
    for (auto client = clients.begin(); client != clients.end(); ++client) {
      pollfd one{client->get(), POLLIN, 0};
      if (poll(&one, 1, 0) != 1) continue;
      char byte = 0;
      EXPECT_EQ(recv(client->get(), &byte, 1, 0), 1) << "it was not answered, but closed";
      clients.erase(client);
      break;
    }
  }
}

TEST(NullServer, RaisesItsLimitOfFiles) {
  FileLimit limit;
  if (limit.hard() < 1024) GTEST_SKIP() << "the hard limit of files is " << limit.hard();
  limit.set(256);
  const NullServer server({});
  EXPECT_GE(limit.soft(), std::min<rlim_t>(limit.hard(), 60'000));
}

}  // namespace
