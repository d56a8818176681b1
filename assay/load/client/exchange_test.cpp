#include "assay/load/client/exchange.hpp"

#include <gtest/gtest.h>

namespace {

using namespace assay::load;

/// Reads a response cut into pieces of `piece` bytes; stamps are the number of the piece.
Request read(const std::string& text, Api api, std::size_t piece, bool reset = false) {
  Exchange exchange(api);
  Request request;
  exchange.begin(request);
  std::int64_t at = 0;
  for (std::size_t begin = 0; begin < text.size(); begin += piece) {
    if (exchange.read(std::string_view(text).substr(begin, piece), ++at)) {
      request.outcome = exchange.outcome();
      return request;
    }
  }
  exchange.end(reset, ++at);
  request.outcome = exchange.outcome();
  return request;
}

RequestOutcome outcome(const std::string& text, Api api = Api::completions) {
  const auto whole = read(text, api, text.size() + 1).outcome;
  EXPECT_EQ(read(text, api, 1).outcome, whole);
  EXPECT_EQ(read(text, api, 7).outcome, whole);
  return whole;
}

std::string chunked(const std::string& body) {
  return fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
      "{:x}\r\n{}\r\n0\r\n\r\n",
      body.size(), body);
}

const std::string kStream =
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
    ": a comment\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n"
    "data: {\"choices\":[{\"text\":\"b\"}],\"usage\":null}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":128,\"completion_tokens\":9,"
    "\"prompt_tokens_details\":{\"cached_tokens\":64}}}\n\n"
    "data: [DONE]\n\n";

TEST(Exchange, AStreamGivesItsTextAndTheServersCounts) {
  for (const std::size_t piece : {1U, 2U, 3U, 10U, 1000U}) {
    const auto request = read(chunked(kStream), Api::chat, piece);
    EXPECT_EQ(request.outcome, RequestOutcome::ok);
    EXPECT_EQ(request.status, 200);
    EXPECT_EQ(request.chunks, 2);  // the first has no text, the last but one only counts
    EXPECT_EQ(request.input_tokens, 128);
    EXPECT_EQ(request.output_tokens, 9);
    EXPECT_EQ(request.cached_tokens, 64);
    EXPECT_EQ(request.bytes, static_cast<std::int64_t>(kStream.size()));
  }
}

TEST(Exchange, StampsAreThoseOfTheBytesThatHoldTheText) {
  const auto text = chunked(kStream);
  const auto request = read(text, Api::chat, 1);
  EXPECT_EQ(request.first_byte_ns, 1);
  // An event is known by its blank line.
  EXPECT_EQ(request.first_token_ns, static_cast<std::int64_t>(text.find("\"a\"}}]}\r\n\r") + 10));
  EXPECT_EQ(request.last_token_ns, static_cast<std::int64_t>(text.find("null}\n\n") + 7));
}

TEST(Exchange, AWholeBodyHasCountsAndNoFirstToken) {
  const std::string body =
      R"({"choices":[{"message":{"content":"ab"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}})";
  const auto request =
      read(fmt::format("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{}", body.size(), body), Api::chat, 5);
  EXPECT_EQ(request.outcome, RequestOutcome::ok);
  EXPECT_EQ(request.output_tokens, 2);
  EXPECT_FALSE(request.first_token_ns);
}

TEST(Exchange, EveryKindOfBadResponseHasItsOutcome) {
  EXPECT_EQ(outcome("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"), RequestOutcome::http_error);
  EXPECT_EQ(outcome("HTTP/1.1 302 Found\r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n"),
            RequestOutcome::redirected);
  EXPECT_EQ(outcome("SSH-2.0-OpenSSH\r\n\r\n"), RequestOutcome::bad_response);
  EXPECT_EQ(outcome("HTTP/1.1 abc\r\n\r\n"), RequestOutcome::bad_response);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), RequestOutcome::bad_response);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
            RequestOutcome::bad_response);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"), RequestOutcome::bad_response);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), RequestOutcome::bad_response);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabX\r\n"), RequestOutcome::bad_response);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), RequestOutcome::closed_early);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\n"), RequestOutcome::closed_early);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nX: " + std::string(70000, 'x')), RequestOutcome::too_large);
  EXPECT_EQ(outcome(chunked("data: {\"choices\":[{\"text\":NaN}]}\n\n")), RequestOutcome::bad_stream);
  EXPECT_EQ(outcome(chunked("data: {\"choices\":[{\"text\":\"a\"}]}\n\n")), RequestOutcome::bad_stream);  // no [DONE]
  EXPECT_EQ(outcome(chunked("data: {\"error\":{\"message\":\"out of memory\"}}\n\n")), RequestOutcome::server_error);
  EXPECT_EQ(outcome(chunked("data: " + std::string(300'000, 'x'))), RequestOutcome::too_large);
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{"), RequestOutcome::bad_stream);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n", Api::http, 5, true).outcome, RequestOutcome::reset);
}

TEST(Exchange, GoodResponsesOfEveryForm) {
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Api::http), RequestOutcome::ok);
  EXPECT_EQ(outcome("HTTP/1.1 204 No Content\r\n\r\n", Api::http), RequestOutcome::ok);
  EXPECT_EQ(outcome("HTTP/1.0 200 OK\r\n\r\nuntil the end", Api::http), RequestOutcome::ok);
  EXPECT_EQ(outcome("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Api::http),
            RequestOutcome::ok);
  EXPECT_EQ(
      outcome("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n0\r\nTrailer: z\r\n\r\n", Api::http),
      RequestOutcome::ok);
}

TEST(Exchange, AConnectionIsKeptWhereTheResponseAllowsIt) {
  const auto kept = [](const std::string& text) {
    Exchange exchange(Api::http);
    Request request;
    exchange.begin(request);
    EXPECT_TRUE(exchange.read(text, 1));
    return exchange.keeps_connection();
  };
  EXPECT_TRUE(kept("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  EXPECT_FALSE(kept("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok"));
  EXPECT_FALSE(kept("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  EXPECT_TRUE(kept("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"));
  EXPECT_FALSE(kept("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1"));
}

TEST(Completion, WhatIsNotJsonIsNotValid) {
  const std::vector<std::string> bad{"",
                                     "{\"a\":NaN}",
                                     "{} x",
                                     "{\"a\":1,}",
                                     "1e999",
                                     "{\"a\":\"\xff\"}",
                                     std::string("{\"a\":\"x\0y\"}", 11),
                                     std::string(200'000, '[')};
  for (const auto& text : bad) EXPECT_FALSE(read_completion(text).valid) << text.substr(0, 20);
  const std::string deep = std::string(50'000, '[') + std::string(50'000, ']');
  EXPECT_TRUE(read_completion(deep).valid);
}

TEST(Completion, CountsAreThoseOfUsage) {
  const auto part = read_completion(
      R"({"usage":{"completion_tokens":5,"prompt_tokens":-3,"prompt_tokens_details":{"cached_tokens":4}},"prompt_tokens":9})");
  EXPECT_EQ(part.output_tokens, 5);
  EXPECT_FALSE(part.input_tokens);
  EXPECT_EQ(part.cached_tokens, 4);
  EXPECT_EQ(read_completion(R"({"usage":{"completion_tokens":18446744073709551615}})").output_tokens, INT64_MAX);
  EXPECT_FALSE(read_completion(R"({"usage":{"completion_tokens":99999999999999999999}})").output_tokens);
}

TEST(Completion, PromptsAreFreshAndSharePrefixes) {
  Form form;
  form.api = Api::completions;
  const auto prompt = [&](std::int64_t text, std::int64_t words, std::int64_t point, std::int64_t prefix) {
    form.point = point;
    std::string out;
    append_prompt(out, form, {0, words, 1, text, false}, prefix);
    return out;
  };
  EXPECT_EQ(prompt(0, 100, 0, 0).size(), 300U);
  EXPECT_NE(prompt(0, 100, 0, 0), prompt(1, 100, 0, 0));
  EXPECT_NE(prompt(0, 100, 0, 0), prompt(0, 100, 1, 0));
  EXPECT_EQ(prompt(0, 100, 0, 60).substr(0, 180), prompt(1, 100, 7, 60).substr(0, 180));
  EXPECT_NE(prompt(0, 100, 0, 60), prompt(1, 100, 0, 60));
  // A later turn begins with the one before it.
  EXPECT_TRUE(prompt(4, 20, 0, 0).starts_with(prompt(4, 10, 0, 0)));
}

TEST(Completion, BodiesAreJson) {
  Form form;
  form.api = Api::chat;
  form.model = "a \"model\"";
  std::string out;
  append_body(out, form, {0, 3, 5, 1, false}, 0);
  const auto body = assay::parse_json(out);
  EXPECT_EQ(body["model"], "a \"model\"");
  EXPECT_EQ(body["max_tokens"], 5);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["messages"][0]["content"].get<std::string>().size(), 9U);
}

}  // namespace
