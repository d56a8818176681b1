#include "assay/report/subjects/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/renderers/terminal.hpp"

#include <sstream>

#include "assay/report/table.hpp"

namespace assay::report {
namespace {

using platform::Examination;
using platform::Severity;
using testing::HasSubstr;
using testing::Not;

Examination healthy() {
  Examination e;
  e.platform = "0123456789abcdef0123456789abcdef";
  e.identity.cpus.push_back({"A CPU", {}, {}, {}, {}, {}, 8});
  e.identity.threads = 8;
  e.identity.cores = 4;
  e.identity.sockets = e.identity.nodes = 1;
  e.identity.memory_bytes = 16LL << 30;
  e.workers = {{"fake", "1.0.0"}};
  e.counters = {{"steal", true, {}}, {"energy", false, "no RAPL here"}};
  for (const char* code : {"quota", "steal", "probe"}) e.findings.push_back({code, Severity::ok, "fine", {}, {}});
  return e;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(DoctorReport, a_healthy_machine_takes_few_lines) {
  EXPECT_EQ(as_terminal(doctor_document(healthy()), {0, true, false}),
            "platform  0123456789abcdef0123456789abcdef\n"
            "          A CPU: 8 CPUs on 4 cores of 1 socket, 16 GiB\n"
            "workers   fake 1.0.0\n"
            "counters  steal; not here: energy (no RAPL here)\n"
            "\n"
            "ok        quota, steal, probe\n");
}

TEST(DoctorReport, a_finding_says_what_why_and_what_to_do) {
  auto e = healthy();
  e.findings.insert(e.findings.begin(), {"disk", Severity::warning, "1 MiB free", "it stops", "make room"});
  EXPECT_THAT(as_terminal(doctor_document(e), {0, true, false}),
              HasSubstr("warning   disk: 1 MiB free\n          It stops.\n          -> make room\n"));
}

TEST(DoctorReport, long_lines_are_broken_and_stay_below_each_other) {
  auto e = healthy();
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word" + std::to_string(i) + " ";
  e.findings.push_back({"probe", Severity::note, words, words, words});
  for (const auto& line : lines_of(as_terminal(doctor_document(e), {60, true, false})))
    EXPECT_LE(display_width(line), 60u) << line;
  std::string joined;
  for (const auto& line : lines_of(as_terminal(doctor_document(e), {60, true, false})))
    joined += line.substr(std::min(line.size(), std::size_t{10})) + " ";
  EXPECT_THAT(joined, HasSubstr("word0 word1 word2"));
  EXPECT_THAT(joined, HasSubstr("word58 word59"));
}

TEST(DoctorReport, colour_is_only_where_it_is_asked_for) {
  EXPECT_THAT(as_terminal(doctor_document(healthy()), {80, true, false}), Not(HasSubstr("\033")));
  EXPECT_THAT(as_terminal(doctor_document(healthy()), {80, true, true}), HasSubstr("\033[32mok\033[0m        quota"));
}

TEST(DoctorReport, names_from_outside_cannot_steer_the_terminal) {
  auto e = healthy();
  e.findings.push_back({"neighbours", Severity::warning, "evil\033[2Jname", {}, {}});
  EXPECT_THAT(as_terminal(doctor_document(e), {80, true, false}), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace assay::report
