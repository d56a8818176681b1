#include "assay/predict/layer_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using testing::HasSubstr;

std::string request_csv(const std::string& rows) {
  return "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n" + rows;
}

std::string refused_report(const std::string& text) {
  try {
    static_cast<void>(layer_sources::benchmark_app.read(text, "report", 1));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

json reported(const std::string& name, const std::string& status, const json& real_time) {
  return {{"name", name}, {"node_type", "Convolution"}, {"status", status}, {"real_time", real_time}};
}

TEST(ImportBenchmarkApp, ExecutedLayersOfACsvReportAreTaken) {
  const auto text = request_csv(
      "in;Status.NOT_RUN;Parameter;unknown_f32;0.000;0.000\n"
      "conv1;Status.EXECUTED;Convolution;brgconv_f32;0.250;0.250\n"
      "odd;name;Status.EXECUTED;Relu;ref;0.5;0.5\n"
      "Total;;;;0.750;0.750\n\n");
  const auto table = layer_sources::benchmark_app.read(text, "report", 8);
  ASSERT_EQ(table.layers.size(), 2u);
  EXPECT_EQ(table.layers[0].name, "conv1 Convolution");
  EXPECT_DOUBLE_EQ(table.layers[0].forward_seconds, 250e-6);
  EXPECT_EQ(table.layers[1].name, "odd;name Relu");
  EXPECT_EQ(table.batch, 8);
}

// The tool in C++ ends each line with a semicolon and names states without "Status.".
TEST(ImportBenchmarkApp, BothToolsAreRead) {
  const auto table = layer_sources::benchmark_app.read(
      "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\r\nc;EXECUTED;Convolution;jit;1.5;1.5;\r\n",
      "report", 1);
  ASSERT_EQ(table.layers.size(), 1u);
  EXPECT_DOUBLE_EQ(table.layers[0].forward_seconds, 1.5e-3);
}

// Requests of 3, 1 and 2 ms: the median is the last.
TEST(ImportBenchmarkApp, OfSeveralRequestsTheOneOfMedianLengthIsTaken) {
  std::string text;
  for (const char* ms : {"3.0", "1.0", "2.0"}) {
    text += request_csv(std::string("c;EXECUTED;Convolution;jit;") + ms + ";1.0\nTotal;;;;1;1\n\n");
  }
  EXPECT_DOUBLE_EQ(layer_sources::benchmark_app.read(text, "report", 1).forward_seconds(), 2e-3);
}

TEST(ImportBenchmarkApp, JsonIsReadWithTimesAsTextOrNumbers) {
  json request;
  request["nodes"] = json::array({reported("a", "Status.EXECUTED", "0.125"), reported("b", "EXECUTED", 0.5),
                                  reported("c", "Status.NOT_RUN", "9")});
  json report;
  report["detailed_performance"] = json::array({request});
  const auto table = layer_sources::benchmark_app.read(report.dump(), "report", 1);
  ASSERT_EQ(table.layers.size(), 2u);
  EXPECT_DOUBLE_EQ(table.forward_seconds(), 625e-6);
}

TEST(ImportBenchmarkApp, WhatHasNoLayersInOrderIsRefusedWithWhatToDo) {
  EXPECT_THAT(refused_report(R"({"execution_results": {}})"), HasSubstr("-report_type detailed_counters"));
  EXPECT_THAT(refused_report(R"({"report_type": "sorted", "avg_performance": {}})"), HasSubstr("lost their order"));
  EXPECT_THAT(refused_report("layerName,execStatus\n"), HasSubstr("lost their order"));
  EXPECT_THAT(refused_report(request_csv("")), HasSubstr("no executed layers"));
  json one;
  one["avg_performance"]["nodes"] = json::array({reported("a", "EXECUTED", "1")});
  EXPECT_THAT(refused_report(one.dump()), HasSubstr("loses the others"));
}

TEST(ImportBenchmarkApp, HostileTextIsRefusedByItsLine) {
  EXPECT_THAT(refused_report(request_csv("a;EXECUTED;b\n")), HasSubstr("line 2: a layer has six cells"));
  for (const char* time : {"nan", "inf", "-1", "1e999", "1x", ""}) {
    EXPECT_THAT(refused_report(request_csv(std::string("a;EXECUTED;b;c;") + time + ";0\n")), HasSubstr("is not a time"))
        << time;
  }
  EXPECT_THAT(refused_report("{\"detailed_performance\": [3]}"), HasSubstr("a request has no nodes"));
  EXPECT_THAT(refused_report("{"), HasSubstr("report: "));
  const auto odd = request_csv("\xff\x1b;EXECUTED;b;c;1;1\n");
  EXPECT_EQ(layer_sources::benchmark_app.read(odd, "report", 1).layers[0].name, "\\xff\\x1b b");
}

}  // namespace
}  // namespace assay::predict
