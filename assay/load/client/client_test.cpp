#include <gtest/gtest.h>

#include "assay/load/client/client.hpp"
#include "assay/load/queries/point.hpp"
#include "assay/load/server/null_server.hpp"

namespace {

using namespace assay::load;

constexpr double kNoBudget = 1e18;

LoadPoint sent_to(const std::string& url, const Arrivals& arrivals, Sending sending, Ledger::Rules rules = {}) {
  const auto sent = send_schedule(parse_target(url), sending, draw_schedule(arrivals), rules);
  return summarise(arrivals, sent, {}, kNoBudget);
}

Arrivals some(double rate, std::int64_t requests) {
  Arrivals arrivals;
  arrivals.rate_per_second = rate;
  arrivals.requests = requests;
  arrivals.input_words = 20;
  arrivals.output_tokens = 16;
  return arrivals;
}

TEST(Client, StreamsAreReadAndTokensCounted) {
  NullService service;
  service.tokens = 4;
  const NullServer server(service);
  Sending sending;
  sending.form.api = Api::completions;
  const auto point = sent_to(server.url() + "/v1/completions", some(500, 200), sending);
  EXPECT_EQ(point.outcomes.at(RequestOutcome::ok), 200);
  EXPECT_EQ(point.output_tokens, 200 * 16);
  EXPECT_EQ(point.input_tokens, 200 * 20);
  EXPECT_EQ(point.chunks, 200 * 4);  // four tokens in each
  EXPECT_EQ(server.served(), 200);
}

TEST(Client, AClosedLoopHasSoManyRequestsUnderWay) {
  NullService service;
  service.service_ns = 1'000'000;
  const NullServer server(service);
  auto arrivals = some(0, 100);
  arrivals.kind = ArrivalKind::closed;
  const auto point = sent_to(server.url(), arrivals, {}, {.clients = 3});
  EXPECT_EQ(point.outcomes.at(RequestOutcome::ok), 100);
  EXPECT_EQ(point.client.most_under_way, 3);
  EXPECT_EQ(point.client.connections, 3);
}

TEST(Client, ACapOnConnectionsIsKeptAndWhatWaitedIsCounted) {
  NullService service;
  service.service_ns = 20'000'000;
  const NullServer server(service);
  Sending sending;
  sending.connections = 2;
  const auto point = sent_to(server.url(), some(1000, 20), sending);
  EXPECT_EQ(point.outcomes.at(RequestOutcome::ok), 20);
  EXPECT_EQ(point.client.most_under_way, 2);
  EXPECT_GT(point.client.waited_for_connection, 0);
  // The last of 20 by two at a time waited for nine services of 20 ms.
  EXPECT_GT(*point.times[0].from_schedule[0].ns, 60e6);
}

TEST(Client, AServerThatIsNotThereIsAnOutcome) {
  std::string url;
  {
    const NullServer server({});
    url = server.url();
  }
  const auto point = sent_to(url, some(1000, 10), {});
  EXPECT_EQ(point.outcomes.at(RequestOutcome::cannot_connect), 10);
}

TEST(Client, SlowAnswersTimeOutAndTheEndLeavesPendingOnes) {
  NullService service;
  service.service_ns = 10'000'000'000;
  const NullServer server(service);
  Sending sending;
  sending.timeout_ns = 100'000'000;
  EXPECT_EQ(sent_to(server.url(), some(1000, 10), sending).outcomes.at(RequestOutcome::timed_out), 10);
  sending.timeout_ns = 60'000'000'000;
  sending.drain_ns = 50'000'000;
  EXPECT_EQ(sent_to(server.url(), some(1000, 10), sending).outcomes.at(RequestOutcome::pending), 10);
}

TEST(Client, UrlsThatItDoesNotSpeakAreRefused) {
  for (const auto* url : {"https://127.0.0.1/", "127.0.0.1:80", "http://", "http://u:p@127.0.0.1/",
                          "http://127.0.0.1:99999/", "http://127.0.0.1/a b"}) {
    EXPECT_THROW(parse_target(url), assay::Error) << url;
  }
  EXPECT_EQ(parse_target("http://127.0.0.1:8000?x=1").path, "/?x=1");
}

TEST(NullServer, BodiesThatOthersWriteGetAnAnswerToo) {
  const NullServer server({});
  for (const auto* body : {R"({"prompt": " a b", "max_tokens": 3, "stream": true})", "{}", "", R"({"prompt":)"}) {
    Sending sending;
    sending.form.body = body;
    const auto point = sent_to(server.url() + "/v1/completions", some(100, 1), sending);
    EXPECT_EQ(point.outcomes.at(RequestOutcome::ok), 1) << body;
  }
}

TEST(NullServer, ItsServiceIsReadFromText) {
  const auto service = parse_null_service("port=18080,workers=2,service=2ms,chunks=16,gap=5ms");
  EXPECT_EQ(service.port, 18080);
  EXPECT_EQ(service.workers, 2);
  EXPECT_EQ(service.service_ns, 2'000'000);
  EXPECT_EQ(service.gap_ns, 5'000'000);
  for (const auto* wrong : {"workers", "workers=x", "speed=1", "port=70000", "tokens=0"}) {
    EXPECT_THROW(parse_null_service(wrong), assay::Error) << wrong;
  }
}

}  // namespace
